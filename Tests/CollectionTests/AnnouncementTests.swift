// Manual announcements of changed elements and members, as in classes with handwritten accessors for private storage.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  private final class MemberBox<Member: Hashable>: @unchecked Sendable {
    var members: Set<Member> = []
  }

  @Suite("Announcing elements and members")
  struct AnnouncementTests {
    let library = Library()
    let log = Log()

    /// Announces a mutation of the tags, or of another key, that is not made.
    private func announce(_ kind: NSKeyValueSetMutationKind, _ argument: Set<AnyHashable>, forKey key: String) {
      library.willChangeValue(forKey: key, withSetMutation: kind, using: argument)
      library.didChangeValue(forKey: key, withSetMutation: kind, using: argument)
    }

    @Test func `Observers of a list receive kind, indexes and elements, with typed and string key paths`() {
      let recorder = ClassicRecorder(log)
      library.addObserver(recorder, forKeyPath: "lines", options: [.old, .new])
      let token = library.log(\.lines, to: log)
      library.willChange(.insertion, valuesAt: [0], forKey: "lines")
      library.lineStorage.insert("a", at: 0)
      library.didChange(.insertion, valuesAt: [0], forKey: "lines")
      library.willChange(.removal, valuesAt: [0], for: \.lines)
      library.lineStorage.remove(at: 0)
      library.didChange(.removal, valuesAt: [0], for: \.lines)
      #expect(
        log.lines == [
          "insertion [0] ->[\"a\"]", "lines 2 [0] ->[\"a\"]", "removal [0] [\"a\"]>-", "lines 3 [0] [\"a\"]>-",
        ])
      library.removeObserver(recorder, forKeyPath: "lines")
      token.invalidate()
    }

    @Test func `Indexes announced for a list that is nil are out of range, unless they are inserted`() {
      let changes = library.changes(of: \.names) {
        let raised = codes {
          library.willChange(.removal, valuesAt: [0], for: \.names)
          library.didChange(.removal, valuesAt: [0], for: \.names)
        }
        #expect(raised == [33])
        library.willChange(.insertion, valuesAt: [0], for: \.names)
        library.names = ["a"]
        library.didChange(.insertion, valuesAt: [0], for: \.names)
      }
      #expect(!changes.isEmpty)
    }

    @Test func `The kinds of set mutations have Apple's values`() {
      let kinds: [NSKeyValueSetMutationKind] = [.union, .minus, .intersect, .set]
      #expect(kinds.map(\.rawValue) == [1, 2, 3, 4])
    }

    @Test func `Each kind delivers added and removed members, computed from the argument before the change`() {
      let rows: [(kind: NSKeyValueSetMutationKind, argument: Set<String>, change: String)] = [
        (.union, ["b", "c"], "insertion ->{c}"), (.minus, ["b", "c"], "removal {b}>-"),
        (.intersect, ["b", "c"], "removal {a}>-"), (.set, ["b", "c"], "replacement {a}>{c}"),
        (.union, ["a"], "insertion ->{}"),
      ]
      library.labels = ["a", "b"]
      library.tags = ["a", "b"]
      for (kind, argument, change) in rows {
        let typed = library.changes(of: \.labels) {
          library.willChangeValue(for: \.labels, withSetMutation: kind, using: argument)
          library.didChangeValue(for: \.labels, withSetMutation: kind, using: argument)
        }
        #expect(typed == [change])
        #expect(library.changes(of: \.tags) { announce(kind, argument, forKey: "tags") } == [change])
      }
    }

    @Test func `Nested pairs each deliver the change that was announced`() {
      library.tags = ["a"]
      let changes = library.changes(of: \.tags) {
        library.willChangeValue(for: \.tags, withSetMutation: .union, using: ["b"])
        announce(.minus, ["a"], forKey: "tags")
        library.didChangeValue(for: \.tags, withSetMutation: .union, using: ["b"])
      }
      #expect(changes == ["removal {a}>-", "insertion ->{b}"])
    }

    @Test func `A key that is not a set, or is undefined, and members of another type are reported, not delivered`() {
      let recorder = ClassicRecorder(log)
      library.addObserver(recorder, forKeyPath: "tags", options: [.old, .new])
      #expect(codes { library.addObserver(recorder, forKeyPath: "imaginary", options: []) } == [11])
      let token = library.log(\.numbers, to: log)
      #expect(codes { announce(.union, [1], forKey: "numbers") } == [26])
      #expect(codes { announce(.union, [1], forKey: "imaginary") } == [9])
      let members = faults { announce(.union, [7], forKey: "tags") }
      #expect(members.map(\.code) == [26] && log.lines.isEmpty)
      #expect(members.first?.summary.contains("holds elements of type String, not Int") == true)
      for key in ["tags", "imaginary"] { library.removeObserver(recorder, forKeyPath: key) }
      token.invalidate()
    }

    @Test func `A fault about a mutation or its end names the line of the call`() {
      let tokens = [library.log(\.numbers, to: log), library.log(\.tags, to: log)]
      let first = #line
      let raised = faults {
        library.willChangeValue(forKey: "numbers", withSetMutation: .union, using: [1])
        library.didChangeValue(forKey: "numbers", withSetMutation: .union, using: [1])
        library.didChangeValue(for: \.tags, withSetMutation: .union, using: ["a"])
        library.didChangeValue(forKey: "tags", withSetMutation: .union, using: ["a"])
      }
      #expect(raised.map(\.code) == [26, 28, 28])
      #expect(raised.map(\.line) == [first + 2, first + 4, first + 5])
      for token in tokens { token.invalidate() }
    }

    @Test func `Another thread may observe a set at any time while its mutations are announced`() async {
      let (box, observed) = (MemberBox<Int>(), Log())
      let thread = Thread { [log] in
        let raised = codes {
          while observed.lines.isEmpty {
            for _ in 0..<100 {
              box.willChangeValue(forKey: "members", withSetMutation: .union, using: [1])
              box.didChangeValue(forKey: "members", withSetMutation: .union, using: [1])
            }
          }
        }
        log.add("\(raised)")
      }
      thread.start()
      for _ in 0..<20_000 { box.observe(\.members) { _, _ in }.invalidate() }
      observed.add("ends")
      while log.lines.isEmpty { try? await Task.sleep(for: .milliseconds(1)) }
      #expect(log.lines == ["[]"])
    }

    @Test func `The members of an open pair are released with the thread`() async {
      final class Member: Hashable, @unchecked Sendable {
        let died: Log
        init(_ died: Log) { self.died = died }
        deinit { died.add("died") }
        static func == (lhs: Member, rhs: Member) -> Bool { lhs === rhs }
        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
      }
      let box = MemberBox<Member>()
      let token = box.observe(\.members, options: [.old, .new]) { _, _ in }
      let thread = Thread { [log] in
        box.willChangeValue(for: \.members, withSetMutation: .union, using: [Member(log)])
        log.add("ends")
      }
      thread.start()
      while log.lines.count < 2 { try? await Task.sleep(for: .milliseconds(1)) }
      #expect(log.lines == ["ends", "died"])
      token.invalidate()
    }
  }
#endif
