// Proxies while observers, setters, deinitializers and other threads use the same collection.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  private final class Shared: @unchecked Sendable {
    var members: Set<Int> = []
    var numbers: [Int] = []
  }

  @Suite("Mutating a collection during a notification")
  struct ReentrancyTests {
    let library = Library()
    let log = Log()

    @Test func `An observer may mutate the same collection, and its mutation notifies too`() {
      nonisolated(unsafe) let numbers = library.mutableArrayValue(for: \.numbers)
      let token = library.observe(\.numbers, options: [.new]) { [log] _, change in
        log.add(text(change))
        if change.newValue == [1] { numbers.insert(0, at: 0) }
        if change.newValue == [0] { numbers.removeAll() }
      }
      numbers.append(1)
      #expect(log.lines == ["insertion [0] ->[1]", "insertion [0] ->[0]", "removal [0, 1] ->-"])
      #expect(library.numbers.isEmpty)
      token.invalidate()
    }

    /// Returns the changes that an observer receives, which is also notified before each change, and then calls `before` once.
    private func notifying<Value>(
      _ path: KeyPath<Library, Value>, before: @escaping () -> Void, change: () -> Void
    ) -> [String] {
      nonisolated(unsafe) var isFirst = true
      nonisolated(unsafe) let before = before
      let token = library.observe(path, options: [.old, .new, .prior]) { [log] _, change in
        guard change.isPrior else { return log.add("\(text(change.oldValue))>\(text(change.newValue))") }
        if isFirst {
          isFirst = false
          before()
        }
      }
      change()
      token.invalidate()
      return log.take()
    }

    @Test func `A mutation applies to the collection as observers that were notified before it have left it`() {
      library.tags = ["a", "b"]
      let tags = library.mutableSetValue(for: \.tags)
      #expect(
        notifying(\.tags, before: { library.tags = [] }, change: { tags.setSet(["a", "c"]) }) == [
          "{a b}>{}", "{}>{a c}",
        ])
      #expect(library.tags == ["a", "c"])
      _ = notifying(\.tags, before: { library.tags.insert("d") }, change: { #expect(!tags.insert("d").inserted) })
      _ = notifying(\.tags, before: { library.tags.remove("d") }, change: { #expect(tags.remove("d") == nil) })
      library.tags = ["a"]
      _ = notifying(\.tags, before: { library.tags.insert("z") }, change: { tags.formSymmetricDifference(["b"]) })
      #expect(library.tags == ["a", "b", "z"])
      _ = notifying(\.tags, before: { library.tags.insert("y") }, change: { tags.removeAll() })
      #expect(library.tags.isEmpty)
      library.numbers = [1, 2]
      let numbers = library.mutableArrayValue(for: \.numbers)
      let ofList = notifying(
        \.numbers, before: { library.numbers[0] = 9 }, change: { #expect(numbers.remove(at: 0) == 9) })
      #expect(ofList.last == "[9]>-" && library.numbers == [2])
    }

    @Test func `Removing all equal elements goes on with what an observer has left`() {
      library.numbers = [7, 7, 7]
      let numbers = library.mutableArrayValue(for: \.numbers)
      nonisolated(unsafe) var isFirst = true
      let token = library.observe(\.numbers) { library, _ in
        if isFirst {
          isFirst = false
          library.numbers.removeLast()
        }
      }
      numbers.remove(7)
      #expect(library.numbers.isEmpty)
      token.invalidate()
    }

    @Test func `A change that an observer makes impossible before it is a fault, and is not delivered`() {
      library.numbers = [1, 2]
      library.names = ["a"]
      library.labels = ["a"]
      var changes: [String] = []
      let raised = codes {
        changes = notifying(
          \.numbers, before: { library.numbers = [] },
          change: {
            library.mutableArrayValue(for: \.numbers).remove(at: 1)
          })
        _ = notifying(
          \.names, before: { library.names = nil }, change: { library.mutableArrayValue(for: \.names).append("b") })
        _ = notifying(
          \.labels, before: { library.labels = nil }, change: { library.mutableSetValue(for: \.labels).insert("b") })
      }
      #expect(raised == [37, 38, 38] && changes == ["[1, 2]>[]"])
      #expect(library.numbers.isEmpty && library.names == nil && library.labels == nil)
    }

    @Test func `Mutations of the key in the property's setter notify, except for the proxy's own`() {
      final class Trimming: Library, @unchecked Sendable {
        override var numbers: [Int] {
          get { super.numbers }
          set {
            super.numbers = newValue
            if newValue.count > 2 { super.numbers = Array(newValue.suffix(2)) }
          }
        }
      }
      let trimming: Library = Trimming()
      let numbers = trimming.mutableArrayValue(for: \.numbers)
      let changes = trimming.changes(of: \.numbers) {
        numbers.append(contentsOf: [1, 2])
        numbers.append(3)
      }
      #expect(trimming.numbers == [2, 3])
      #expect(changes == ["insertion [0, 1] ->[1, 2]", "setting [1, 2, 3]>[2, 3]", "insertion [2] ->[3]"])
    }

    @Test func `The deinitializer of a removed element may read the collection`() {
      final class Mourned: NSObject {
        let onDeath: () -> Void
        init(_ onDeath: @escaping () -> Void) { self.onDeath = onDeath }
        deinit { onDeath() }
      }
      let any = library.mutableArrayValue(forKey: "anything")
      for _ in 0..<2 { any.append(Mourned { [unowned library, log] in log.add("\(library.anything.count)") }) }
      any.remove(at: [0])
      any[0] = 1
      #expect(log.lines == ["1", "1"])
    }

    @Test func `A proxy retains its object, and the observation ends with it`() {
      weak var weakLibrary: Library?
      do {
        let handle: KeyValueMutableArray<Int>
        do {
          let other = Library()
          weakLibrary = other
          handle = other.mutableArrayValue(for: \.numbers)
        }
        handle.append(1)
        #expect(weakLibrary?.numbers == [1])
      }
      #expect(weakLibrary == nil)
    }

    @Test func `Threads that mutate under a lock cause one notification per mutation`() async {
      let shared = Shared()
      nonisolated(unsafe) var inserted = 0
      nonisolated(unsafe) var appended: [Int] = []
      let tokens = [
        shared.observe(\.members, options: [.new]) { _, change in inserted += change.newValue!.count },
        shared.observe(\.numbers, options: [.new]) { _, change in appended += change.newValue! },
      ]
      let lock = NSLock()
      await withTaskGroup(of: Void.self) { group in
        for worker in 0..<4 {
          group.addTask {
            for number in 0..<200 {
              lock.withLock {
                _ = shared.mutableSetValue(for: \.members).insert(worker * 1000 + number)
                shared.mutableArrayValue(for: \.numbers).append(number)
              }
            }
          }
        }
      }
      #expect(inserted == 800 && shared.members.count == 800 && appended == shared.numbers && appended.count == 800)
      for token in tokens { token.invalidate() }
    }
  }
#endif
