// The recorder of changes.
#if Macros
  import Foundation
  import KeyValueObserving
  import KeyValueObservingTesting
  import Testing

  @Suite("A recorder of changes")
  struct RecorderTests {
    let document = Document()

    @Test("records typed and string key paths of several objects, in the order of the changes of all recorders")
    func severalObjects() {
      let other = Document()
      let recorder = ChangeRecorder(document, \.title, \.pages)
      let second = ChangeRecorder(other, \.title)
      recorder.record(other, "title", "author.name")
      document.title = "A"
      other.title = "B"
      other.author = Author("X")
      document.pages = 1
      let changes = recorder.changes
      #expect(changes.map(\.keyPath) == ["title", "title", "author.name", "pages"])
      #expect(changes.map(\.object) == [document, other, other, document].map { ObjectIdentifier($0) })
      #expect(changes.map(\.order) == changes.map(\.order).sorted())
      #expect(changes[0].order < second.changes[0].order && second.changes[0].order < changes[2].order)
      #expect(
        recorder.description == """
          1. Document.title: "" -> "A"
          2. Document.title: "" -> "B"
          3. Document.author.name: nil -> "X"
          4. Document.pages: 0 -> 1
          """)
    }

    @Test("records values, kinds, indexes and notifications before changes")
    func details() {
      let recorder = ChangeRecorder(document, \.tags, options: [.old, .new, .prior])
      document.mutableArrayValue(for: \.tags).append(contentsOf: ["a", "b"])
      document.mutableArrayValue(for: \.tags).remove(at: 0)
      let changes = recorder.changes.filter { !$0.isPrior }
      #expect(changes.map(\.kind) == [.insertion, .removal])
      #expect(changes.map(\.indexes) == [IndexSet([0, 1]), IndexSet(integer: 0)])
      #expect(changes[0].newValue as? [String] == ["a", "b"] && changes[1].oldValue as? [String] == ["a"])
      #expect(recorder.changes.map(\.isPrior) == [true, false, true, false])
      #expect(changes[0].description == #"Document.tags insertion at 0-1: … -> ["a", "b"]"#)
    }

    @Test("records the present value and only the values that it is asked for")
    func options() {
      let recorder = ChangeRecorder(document, \.title, options: [.initial])
      document.title = "A"
      #expect(recorder.changes.map(\.description) == ["Document.title", "Document.title"])
      #expect(recorder.changes.allSatisfy { $0.oldValue == nil && $0.newValue == nil })
    }

    @Test("keeps neither objects nor values that are objects, and ends with them")
    func keepsNothing() {
      var object: Document? = Document()
      weak let weakObject = object
      let recorder = ChangeRecorder(object!, \.author)
      recorder.record(object!, "title")
      object!.author = Author("X")
      #expect((recorder.changes[0].newValue as? Author)?.name == "X")
      expectFaults([]) { object = nil }
      #expect(weakObject == nil)
      #expect(recorder.changes.count == 1 && recorder.changes[0].newValue == nil)
      #expect(recorder.description.hasPrefix("1. Document.author: nil -> Author@0x"))
    }

    @Test("ends its observations when it is stopped and when it is released")
    func ends() {
      var recorder: ChangeRecorder? = ChangeRecorder(document, \.title, \.summary)
      recorder!.record(document, "author.name", "pages")
      recorder!.stop()
      document.title = "A"
      expectNoObservations(of: document)
      recorder!.record(document, \.title)
      document.title = "B"
      #expect(recorder!.changes.count == 1)
      recorder!.removeAll()
      #expect(recorder!.changes.isEmpty && recorder!.description == "no changes")
      recorder = nil
      expectNoObservations(of: document)
    }

    @Test("records changes of any thread, with the thread")
    func threads() async {
      let objects = (0..<4).map { _ in SharedDocument() }
      let recorder = ChangeRecorder()
      for each in objects {
        recorder.record(each, \.pages)
        Thread { for page in 1...250 { each.pages = page } }.start()
      }
      let changes = await recorder.wait(for: 1000)
      #expect(changes.count == 1000)
      #expect(Set(changes.map(\.thread)).count == 4)
      #expect(changes.allSatisfy { !$0.isMainThread })
      #expect(zip(changes, changes.dropFirst()).allSatisfy { $0.order < $1.order })
      for each in objects {
        let own = changes.filter { $0.object == ObjectIdentifier(each) }
        #expect(own.map { $0.newValue as? Int } == Array(1...250))
      }
      #expect(recorder.description.contains("[thread \(changes[0].thread)]"))
    }

    @Test("waits for a number of changes, or for a condition, that other threads fulfill")
    func waiting() async {
      let object = SharedDocument()
      let recorder = ChangeRecorder(object, \.pages)
      Task.detached { for page in 1...100 { object.pages = page } }
      #expect(await recorder.wait(for: 3).count >= 3)
      let changes = await recorder.wait { $0.last?.newValue as? Int == 100 }
      #expect(changes.count == 100)
      await recorder.wait(for: 100)
    }

    @Test("says which changes there were when a wait takes too long, and ends it when the task is cancelled")
    func timeout() async {
      let recorder = ChangeRecorder(document, \.title)
      document.title = "A"
      let line = #line + 1
      let found = await issues { await recorder.wait(for: 2, timeout: .milliseconds(20)) }
      #expect(found.map(\.line) == [line])
      #expect(
        found.first?.text
          == "expected 2 changes within 0.02 seconds, but these came:\n1. Document.title: \"\" -> \"A\"")
      recorder.removeAll()
      let other = await issues { await recorder.wait(timeout: .zero) { _ in false } }
      #expect(other.map(\.text) == ["expected changes that satisfy the condition within 0.0 seconds, but none came"])
      let task = Task { await ChangeRecorder().wait(for: 1, timeout: .seconds(600)) }
      task.cancel()
      #expect(await task.value.isEmpty)
    }
  }
#endif
