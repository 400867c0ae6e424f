// Expectations of faults.
#if Macros
  import KeyValueObserving
  import KeyValueObservingTesting
  import Testing

  @Suite("An expectation of a fault")
  struct ExpectFaultTests {
    let document = Document()
    let panel = Panel()

    @Test("passes if the body raises it, which goes on, and returns what the body returns")
    func passes() {
      let result = expectFault(.notRegistered) {
        document.removeObserver(panel, forKeyPath: "title")
        return 7
      }
      #expect(result == 7)
      expectFaults([.notRegistered, .undefinedKey]) {
        document.removeObserver(panel, forKeyPath: "title")
        document.setValue(1, forKey: "colour")
      }
      expectFaults([]) { document.title = "A" }
    }

    @Test("fails with the report if another fault is raised, with a second one, and with none")
    func fails() {
      let line = #line + 1
      let other = issues { expectFault(.undefinedKey) { document.removeObserver(panel, forKeyPath: "title") } }
      #expect(other.map(\.line) == [line])
      let text = other.first?.text ?? ""
      #expect(text.hasPrefix("expected KVO0009 (undefined key), but this fault was raised:\nKVO0002 fatal: "))
      #expect(text.contains("Apple says") || text.contains("help"))
      let second = issues {
        expectFault(.notRegistered) { for _ in 1...2 { document.removeObserver(panel, forKeyPath: "title") } }
      }
      #expect(second.count == 1 && second[0].text.contains("but 2 faults were raised:"))
      let none = issues { expectFault(.notRegistered) {} }
      #expect(
        none.map(\.text)
          == ["expected KVO0002 (removal of an observer that is not registered), but no fault was raised"])
      let unexpected = issues { expectFaults([]) { document.removeObserver(panel, forKeyPath: "title") } }
      #expect(unexpected.count == 1 && unexpected[0].text.hasPrefix("expected no fault, but this fault was raised:"))
    }

    @Test("restores the handler that was there, and leaves faults of inner expectations to these")
    func nesting() {
      var codes: [Int] = []
      KeyValueFault.withHandler {
        codes.append($0.code)
        return .ignore
      } in: {
        expectFault(.notRegistered) {
          expectFault(.undefinedKey) { document.setValue(1, forKey: "colour") }
          document.removeObserver(panel, forKeyPath: "title")
        }
        #expect(codes.isEmpty)
        document.removeObserver(panel, forKeyPath: "title")
      }
      #expect(codes == [2])
    }

    @Test("counts the faults of its thread, or of its task and child tasks on any thread, and not those of others")
    func asynchronous() async {
      let shared = SharedDocument()
      let result = await expectFault(.undefinedKey) {
        await Task.yield()
        async let child: Void = shared.setValue(1, forKey: "colour")
        await child
        return 7
      }
      #expect(result == 7)
      await withTaskGroup { group in
        for _ in 0..<8 {
          group.addTask {
            await expectFault(.undefinedKey) {
              await Task.yield()
              shared.setValue(1, forKey: "colour")
            }
          }
          group.addTask { await expectFaults([]) { await Task.yield() } }
          group.addTask { for _ in 0..<50 { expectFault(.undefinedKey) { shared.setValue(1, forKey: "colour") } } }
          group.addTask { for _ in 0..<50 { expectFaults([]) {} } }
        }
      }
      let none = await issues { await expectFault(.undefinedKey) { await Task.yield() } }
      #expect(none.map(\.text) == ["expected KVO0009 (undefined key), but no fault was raised"])
    }

    @Test("ignores infos that are not expected")
    func infos() {
      let copy = Document()
      func bindTwice() { for _ in 1...2 { document.source(\.title).bind(to: copy, \.title, exclusive: true) } }
      expectFaults([]) { bindTwice() }
      copy.unbind(\.title)
      expectFault(.duplicate) { bindTwice() }
    }
  }
#endif
