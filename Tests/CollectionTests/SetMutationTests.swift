// Manual announcements of set mutations, and observation of the elements of an array.
#if Macros
  import CKVO
  import Foundation
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  private final class Crate {
    @NotObserved var array = NSMutableArray()
    var _rows: [String] = []
  }

  @Suite("Announcing set mutations manually")
  struct SetMutationTests {
    let library = Library()
    let log = Log()

    /// Returns the changes delivered for an announcement, for the members a and b.
    private func delivered(_ kind: NSKeyValueSetMutationKind, _ argument: Set<String>) -> [String] {
      library.labels = ["a", "b"]
      let token = library.log(\.labels, to: log)
      library.willChangeValue(for: \.labels, withSetMutation: kind, using: argument)
      library.didChangeValue(for: \.labels, withSetMutation: kind, using: argument)
      token.invalidate()
      return log.take()
    }

    @Test func `Each kind delivers added and removed members, computed from the argument before the change`() {
      #expect(delivered(.union, ["b", "c"]) == ["insertion ->{c}"])
      #expect(delivered(.minus, ["b", "c"]) == ["removal {b}>-"])
      #expect(delivered(.intersect, ["b", "c"]) == ["removal {a}>-"])
      #expect(delivered(.set, ["b", "c"]) == ["replacement {a}>{c}"])
      #expect(delivered(.union, ["a"]) == ["insertion ->{}"])
    }

    @Test func `An observer registered within the pair is not notified, which is no fault`() {
      library.tags = ["a"]
      let raised = faults {
        library.willChangeValue(forKey: "tags", withSetMutation: .union, using: ["b"])
        let token = library.log(\.tags, to: log)
        library.didChangeValue(forKey: "tags", withSetMutation: .union, using: ["b"])
        token.invalidate()
      }
      #expect(raised.isEmpty && log.lines.isEmpty)
    }

    @Test func `The kinds have Apple's values`() {
      let kinds: [NSKeyValueSetMutationKind] = [.union, .minus, .intersect, .set]
      #expect(kinds.map(\.rawValue) == [1, 2, 3, 4])
    }

    @Test func `The string form accepts members of any type that converts to the property's`() {
      library.tags = ["a"]
      let recorder = ClassicRecorder(log)
      library.addObserver(recorder, forKeyPath: "tags", options: [.old, .new, .prior])
      library.willChangeValue(forKey: "tags", withSetMutation: .set, using: ["b"])
      library.didChangeValue(forKey: "tags", withSetMutation: .set, using: ["b"])
      #expect(log.take() == ["prior tags 4 {a}>-", "tags 4 {a}>{b}"])
      let faults = faults {
        library.willChangeValue(forKey: "tags", withSetMutation: .union, using: [7])
        library.didChangeValue(forKey: "tags", withSetMutation: .union, using: [7])
      }
      #expect(faults.map(\.code) == [26] && log.lines.isEmpty)
      library.removeObserver(recorder, forKeyPath: "tags")
    }

    @Test func `Nested pairs each deliver the change that was announced`() {
      library.tags = ["a"]
      let token = library.log(\.tags, to: log)
      library.willChangeValue(for: \.tags, withSetMutation: .union, using: ["b"])
      library.willChangeValue(for: \.tags, withSetMutation: .minus, using: ["a"])
      library.didChangeValue(for: \.tags, withSetMutation: .minus, using: ["a"])
      library.didChangeValue(for: \.tags, withSetMutation: .union, using: ["b"])
      #expect(log.lines == ["removal {a}>-", "insertion ->{b}"])
      token.invalidate()
    }

    @Test func `A key that is not a set, or does not exist, is reported, and nothing is announced`() {
      let token = library.log(\.numbers, to: log)
      let raised = faults {
        library.willChangeValue(forKey: "numbers", withSetMutation: .union, using: [1])
        library.didChangeValue(forKey: "numbers", withSetMutation: .union, using: [1])
      }
      #expect(raised.map(\.code) == [26] && log.lines.isEmpty)
      let recorder = ClassicRecorder(log)
      let ofUndefined = faults {
        library.addObserver(recorder, forKeyPath: "imaginary", options: [])
        library.willChangeValue(forKey: "imaginary", withSetMutation: .union, using: [1])
        library.didChangeValue(forKey: "imaginary", withSetMutation: .union, using: [1])
        library.removeObserver(recorder, forKeyPath: "imaginary")
      }
      #expect(ofUndefined.map(\.code) == [11, 9] && log.lines.isEmpty)
      token.invalidate()
    }

    @Test func `A fault about a mutation names the line of the call`() {
      let token = library.log(\.numbers, to: log)
      let first = #line
      let raised = faults {
        library.willChangeValue(forKey: "numbers", withSetMutation: .union, using: [1])
        library.didChangeValue(forKey: "numbers", withSetMutation: .union, using: [1])
      }
      #expect(raised.map(\.line) == [first + 2])
      token.invalidate()
    }

    @Test func `A fault about the end of a mutation names the line of the call`() {
      let token = library.log(\.tags, to: log)
      let first = #line
      let raised = faults {
        library.didChangeValue(for: \.tags, withSetMutation: .union, using: ["a"])
        library.didChangeValue(forKey: "tags", withSetMutation: .union, using: ["a"])
      }
      #expect(raised.map(\.code) == [28, 28] && raised.map(\.line) == [first + 2, first + 3])
      token.invalidate()
    }

    @Test func `A pair for a key that is not observed does nothing, even if the key is undefined`() {
      let token = library.log(\.tags, to: log)
      let raised = faults {
        for key in ["imaginary", "numbers"] {
          library.willChangeValue(forKey: key, withSetMutation: .union, using: ["x"])
          library.didChangeValue(forKey: key, withSetMutation: .union, using: ["x"])
        }
        library.willChange(.removal, valuesAt: [9], forKey: "labels")
        library.didChange(.removal, valuesAt: [9], forKey: "labels")
      }
      #expect(raised.isEmpty && log.lines.isEmpty)
      token.invalidate()
    }

    @Test func `Another thread may begin and end to observe the key at any time`() async {
      let (box, observed) = (MemberBox<Int>(), Log())
      let thread = Thread { [log] in
        let raised = faults {
          while observed.lines.isEmpty {
            for _ in 0..<100 {
              box.willChangeValue(forKey: "members", withSetMutation: .union, using: [1])
              box.didChangeValue(forKey: "members", withSetMutation: .union, using: [1])
            }
          }
        }
        log.add("\(raised.map(\.code))")
      }
      thread.start()
      for _ in 0..<20_000 { box.observe(\.members) { _, _ in }.invalidate() }
      observed.add("ends")
      while log.lines.isEmpty { try? await Task.sleep(for: .milliseconds(1)) }
      #expect(log.lines == ["[]"])
    }

    @Test func `Indexes announced for a list that is nil are out of range, unless they are inserted`() {
      let token = library.log(\.names, to: log)
      let raised = faults {
        library.willChange(.removal, valuesAt: [0], for: \.names)
        library.didChange(.removal, valuesAt: [0], for: \.names)
      }
      #expect(raised.map(\.code) == [33] && log.lines.isEmpty)
      library.willChange(.insertion, valuesAt: [0], for: \.names)
      library.names = ["a"]
      library.didChange(.insertion, valuesAt: [0], for: \.names)
      #expect(!log.lines.isEmpty)
      token.invalidate()
    }

    @Test func `Wrong indexes announced for a key by which a property can also be named are one fault`() {
      let crate = Crate()
      let token = crate.log(\._rows, to: log)
      let raised = faults {
        crate.willChange(.insertion, valuesAt: [99], forKey: "rows")
        crate.didChange(.insertion, valuesAt: [99], forKey: "rows")
      }
      #expect(raised.map(\.code) == [33] && log.lines.isEmpty)
      token.invalidate()
    }

    @Test func `Indexes of a set or of Foundation's array are reported, and nothing is announced`() {
      let crate = Crate()
      let tokens = [library.log(\.tags, to: log), crate.log(\.array, to: log)]
      let raised = faults {
        library.willChange(.insertion, valuesAt: [0], forKey: "tags")
        library.didChange(.insertion, valuesAt: [0], forKey: "tags")
        crate.willChange(.insertion, valuesAt: [0], forKey: "array")
        crate.array.add(1)
        crate.didChange(.insertion, valuesAt: [0], forKey: "array")
      }
      #expect(raised.map(\.code) == [26, 26] && log.lines.isEmpty)
      withExtendedLifetime(tokens) {}
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

  @KeyValueObservable
  final class MemberBox<Member: Hashable>: @unchecked Sendable {
    var members: Set<Member> = []
  }

  @Suite("Observing the elements of an array")
  struct ElementObservationTests {
    let items = ["a", "b", "c"].map { Item($0) }
    let log = Log()

    @Test func `The elements at the indexes are observed, and each is the object of its notifications`() {
      let recorder = ClassicRecorder(log)
      items.addObserver(recorder, toObjectsAt: [0, 2], forKeyPath: "name", options: [.new])
      for item in items { item.name += "!" }
      #expect(log.take() == ["name 1 ->a!", "name 1 ->c!"])
      items.removeObserver(recorder, fromObjectsAt: [0], forKeyPath: "name")
      for item in items { item.name += "!" }
      #expect(log.take() == ["name 1 ->c!!"])
      items.removeObserver(recorder, fromObjectsAt: [2], forKeyPath: "name", context: nil)
      items[2].name = ""
      #expect(log.lines.isEmpty && items.allSatisfy { $0.observationInfo == nil })
    }

    @Test func `An index out of range is a range exception, before anything is registered or removed`() {
      let recorder = ClassicRecorder(log)
      #expect(faults { items.addObserver(recorder, toObjectsAt: [0, 3], forKeyPath: "name") }.map(\.code) == [37])
      #expect(items.allSatisfy { $0.observationInfo == nil })
      items.addObserver(recorder, toObjectsAt: [0], forKeyPath: "name")
      #expect(faults { items.removeObserver(recorder, fromObjectsAt: [0, 3], forKeyPath: "name") }.map(\.code) == [37])
      #expect(items[0].observationInfo != nil)
      items.removeObserver(recorder, fromObjectsAt: [0], forKeyPath: "name")
    }

    @Test func `A context is matched exactly on removal`() {
      let recorder = ClassicRecorder(log)
      let context = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
      defer { context.deallocate() }
      items.addObserver(recorder, toObjectsAt: [1], forKeyPath: "name", context: context)
      let wrong = faults { items.removeObserver(recorder, fromObjectsAt: [1], forKeyPath: "name", context: nil) }
      #expect(wrong.map(\.code) == [2])
      items.removeObserver(recorder, fromObjectsAt: [1], forKeyPath: "name", context: context)
      #expect(items[1].observationInfo == nil)
    }
  }
#endif
