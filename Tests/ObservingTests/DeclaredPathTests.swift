// Typed key paths through keys that are announced manually, or declared as dependent on others.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  private class Leaf {
    private let lock = NSLock()
    @NotObserved private var stored = 0
    /// Announced manually; its accessors use no observable property.
    var value: Int {
      get { lock.withLock { stored } }
      set {
        willChangeValue(for: \.value)
        lock.withLock { stored = newValue }
        didChangeValue(for: \.value)
      }
    }

    var trigger = 0
    var alsoRead = 0
    var shown: Int { trigger + alsoRead }
    class func keyPathsForValuesAffectingShown() -> Set<String> { ["trigger"] }

    /// Protected by a lock that the setter holds while it stores the observed value.
    var visible = 0
    var guarded: Int {
      get { lock.withLock { visible } }
      set {
        willChangeValue(for: \.guarded)
        lock.withLock { visible = newValue }
        didChangeValue(for: \.guarded)
      }
    }
    class func automaticallyNotifiesObserversOfGuarded() -> Bool { false }
  }

  private final class FinerLeaf: Leaf {}

  @KeyValueObservable
  private class Branch {
    var leaf: Leaf? = Leaf()
    var fixed = Leaf()
  }

  @KeyValueObservable
  private final class Trunk {
    var branch: Branch? = Branch()
    var sure = Branch()
  }

  @Suite("Key paths through announced or declared keys")
  struct DeclaredPathTests {
    private let trunk = Trunk()
    private let log = Log()

    private func follow<Value>(_ path: KeyPath<Trunk, Value>) -> NSKeyValueObservation {
      trunk.observe(path, options: [.old, .new]) { [log] _, change in
        log.add("\(change.oldValue.map { "\($0)" } ?? "none")>\(change.newValue.map { "\($0)" } ?? "none")")
      }
    }

    @Test func `A manual announcement at the end of a path notifies, and so does each replacement on the path`() {
      let token = follow(\.sure.fixed.value)
      trunk.sure.fixed.value = 1
      trunk.sure.fixed = FinerLeaf()
      trunk.sure.fixed.value = 2
      trunk.sure = Branch()
      #expect(log.lines == ["0>1", "1>0", "0>2", "2>0"])
      token.invalidate()
      #expect(trunk.observationInfo == nil)
    }

    @Test func `Manual announcements also notify through optionals, which may be nil`() {
      let token = follow(\.branch?.leaf?.value)
      let leaf = trunk.branch!.leaf!
      leaf.value = 1
      trunk.branch!.leaf = nil
      trunk.branch = nil
      trunk.branch = Branch()
      trunk.branch!.leaf!.value = 3
      leaf.value = 9
      #expect(
        log.lines == [
          "Optional(0)>Optional(1)", "Optional(1)>nil", "nil>nil", "nil>Optional(0)", "Optional(0)>Optional(3)",
        ])
      token.invalidate()
    }

    @Test func `Declared dependencies of a key replace the reads of its getter`() {
      let token = follow(\.sure.fixed.shown)
      trunk.sure.fixed.alsoRead = 5
      trunk.sure.fixed.trigger = 1
      #expect(log.lines.count == 1)
      token.invalidate()
    }

    @Test func `A lock that getter and setter take does not deadlock if the key is declared as manual`() {
      let token = follow(\.sure.fixed.guarded)
      trunk.sure.fixed.guarded = 4
      #expect(log.lines == ["0>4"])
      token.invalidate()
    }

    @Test func `Reports name the properties of a path`() {
      let token = follow(\.branch?.leaf?.value)
      let graph = ObservationGraph.current().json
      #expect(graph.contains("branch.leaf.value"))
      token.invalidate()
    }
  }
#endif
