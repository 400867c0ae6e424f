// Expectations that observations have ended.
#if Macros
  import Foundation
  import KeyValueObserving
  import KeyValueObservingTesting
  import Testing

  @Suite("An expectation that nothing observes")
  struct ExpectNoObservationsTests {
    let document = Document()

    @Test("an object fails with one issue that says who observes what, and since where, and passes when none does")
    func fails() {
      let panel = Panel()
      document.addObserver(panel, forKeyPath: "title", userInfo: "page 1")
      let registered = #line - 1
      let token = document.observe(\.pages) { _, _ in }
      let line = #line + 1
      let found = issues { expectNoObservations(of: document) }
      #expect(found.map(\.line) == [line])
      let text = found.first?.text ?? ""
      let file = #fileID
      #expect(text.contains("these 2 observations remain:\n  \"title\" of Document@0x"))
      #expect(text.contains(", observed by Panel@0x"))
      #expect(text.contains(", registered at \(file):\(registered), userInfo page 1\n"))
      #expect(text.hasSuffix(", observed by a closure, registered at \(file):\(registered + 2)"))
      document.removeObserver(panel, forKeyPath: "title")
      token.invalidate()
      let other = Document()
      let otherToken = other.observe(\.title) { _, _ in }
      expectNoObservations(of: document)
      #expect(otherToken.isActive)
    }

    @Test("an object counts observations of other objects that go through it")
    func through() {
      let author = Author("X")
      document.author = author
      let token = document.observe(\.author?.name) { _, _ in }
      let found = issues { expectNoObservations(of: author) }
      #expect(found.count == 1)
      #expect(found.first?.text.contains("\"author.name\" of Document@0x") == true)
      #expect(found.first?.text.contains("through Author@0x") == true)
      token.invalidate()
      expectNoObservations(of: author, document)
    }

    @Test("that a body has registered passes when they have ended, and sees only its own")
    func bodies() async {
      let elsewhere = SharedDocument()
      let result = expectNoObservations {
        let made = Document()
        made.onChange(of: \.title, for: document) { _, _, _ in }
        let token = document.observe(\.author?.name) { _, _ in }
        token.invalidate()
        return 7
      }
      #expect(result == 7)
      let token = await expectNoObservations {
        await Task.detached { elsewhere.observe(\.title) { _, _ in } }.value
      }
      #expect(token.isActive)
    }

    @Test("that a body has registered fails with those that remain")
    func remaining() async {
      let line = #line + 2
      var token: NSKeyValueObservation?
      let found = issues { expectNoObservations { token = document.observe(\.title) { _, _ in } } }
      #expect(found.map(\.line) == [line])
      #expect(
        found.first?.text.contains("that the body registered, but this observation remains:\n  \"title\" of ") == true)
      #expect(found.first?.text.hasSuffix("ExpectNoObservationsTests.swift:\(line)") == true)
      token = nil
      let (panel, shared) = (Panel(), SharedDocument())
      let inTask = await issues {
        await expectNoObservations {
          await Task.yield()
          async let child: Void = shared.addObserver(ForEver.panel, forKeyPath: "title")
          await child
        }
      }
      #expect(inTask.count == 1)
      shared.removeObserver(ForEver.panel, forKeyPath: "title")
      expectNoObservations(of: document, shared)
      withExtendedLifetime((token, panel)) {}
    }
  }

  private enum ForEver {
    static nonisolated(unsafe) let panel = Panel()
  }
#endif
