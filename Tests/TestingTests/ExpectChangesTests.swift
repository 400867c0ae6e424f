// Expectations of changes.
#if Macros
  import KeyValueObserving
  import KeyValueObservingTesting
  import Testing

  @Suite("An expectation of changes")
  struct ExpectChangesTests {
    let document = Document()

    @Test("compares new values, or old and new ones, and returns what the body returns")
    func passes() {
      let result = expectChanges(of: document, \.title, ["A", "B"]) {
        document.title = "A"
        document.title = "B"
        return 7
      }
      #expect(result == 7)
      expectChanges(of: document, \.title, [("B", "C"), ("C", "C")]) {
        document.title = "C"
        document.title = "C"
      }
      expectChanges(of: document, \.title, []) { document.pages = 1 }
      expectChanges(of: document, \.summary, [("C (1)", "D (1)")]) { document.title = "D" }
      expectChanges(of: document, \.author?.name, [nil, "X"]) {
        document.author = nil
        document.author = Author("X")
      }
      expectNoObservations(of: document, document.author!)
    }

    @Test("has whole collections, however they are changed")
    func collections() {
      expectChanges(of: document, \.tags, [["a"], ["a", "b"], []]) {
        document.mutableArrayValue(for: \.tags).append("a")
        document.tags.append("b")
        document.tags = []
      }
    }

    @Test("follows asynchronous code on its actor, and changes of other threads, and fails in the same way")
    @MainActor
    func asynchronous() async {
      let result = await expectChanges(of: document, \.title, ["A", "B"]) {
        document.title = "A"
        await Task.yield()
        document.title = "B"
        return true
      }
      #expect(result)
      let shared = SharedDocument()
      await expectChanges(of: shared, \.pages, [(0, 1), (1, 2)]) {
        await Task.detached { shared.pages = 1 }.value
        shared.pages = 2
      }
      let found = await issues {
        await expectChanges(of: document, \.title, [("B", "D")]) {
          await Task.yield()
          document.title = "C"
        }
      }
      #expect(found.count == 1 && found[0].text.contains(#"! 1  "B" -> "D"  "B" -> "C""#))
    }

    @Test("that fails is one issue at the caller's line, with both lists and the first difference")
    func fails() {
      let line = #line + 2
      let found = issues {
        expectChanges(of: document, \.title, ["A", "B"]) {
          document.title = "A"
          document.title = "C"
          document.title = "D"
        }
      }
      #expect(found.map(\.line) == [line])
      #expect(
        found.first?.text == """
          the changes of Document.title differ from the expected ones, first in change 2:
               expected  actual
            1  "A"       "A"
          ! 2  "B"       "C"
          ! 3  (none)    "D"
          """)
    }

    @Test("shows old values where they are expected, and the rows around the first difference of many")
    func long() {
      let pairs = issues {
        expectChanges(of: document, \.pages, [(0, 1), (5, 2)]) { for page in 1...2 { document.pages = page } }
      }
      #expect(pairs.first?.text.contains("! 2  5 -> 2    1 -> 2") == true)
      let found = issues {
        expectChanges(of: document, \.pages, Array(1...100)) { for page in 1...99 { document.pages = page } }
      }
      #expect(
        found.first?.text == """
          the changes of Document.pages differ from the expected ones, first in change 100:
                 expected  actual
            … 94 equal
             95  95        95
             96  96        96
             97  97        97
             98  98        98
             99  99        99
          ! 100  100       (none)
          """)
      expectChanges(of: document, \.title, ["D"]) { document.title = "D" }
    }

    @Test("lets an error through, and compares nothing then")
    func throwing() {
      struct Failure: Error {}
      #expect(throws: Failure.self) {
        try expectChanges(of: document, \.title, ["A"]) { throw Failure() }
      }
      expectNoObservations(of: document)
    }
  }
#endif
