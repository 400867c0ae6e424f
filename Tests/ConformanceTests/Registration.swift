// Sections A and E of Documentation/AppleCompatibility.md: the change dictionary, registration and removal.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  /// An observer that is equal to every other one.
  private final class Equal: NSObject, KeyValueObserver {
    var count = 0
    override func isEqual(_ object: Any?) -> Bool { object is Equal }
    override var hash: Int { 1 }
    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) { count += 1 }
  }

  /// Observes itself, and removes itself in deinit.
  @KeyValueObservable
  private final class SelfObserver: KeyValueObserver {
    var v = 0
    @NotObserved var count = 0
    init() { addObserver(self, forKeyPath: "v") }
    deinit { removeObserver(self, forKeyPath: "v") }
    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) { count += 1 }
  }

  /// A class that overrides observationInfo.
  @KeyValueObservable
  private final class OwnInfo {
    var v = 0
    var observationInfo: UnsafeMutableRawPointer? { nil }
  }

  @Suite("A, E. The change dictionary, registration and removal")
  struct Registration {
    let t = T()
    let w = Watcher()

    @Test func `1: The five keys are Apple's strings`() {
      let keys: [NSKeyValueChangeKey] = [.kindKey, .newKey, .oldKey, .indexesKey, .notificationIsPriorKey]
      #expect(keys.map(\.rawValue) == ["kind", "new", "old", "indexes", "notificationIsPrior"])
    }

    @Test func `8: Values are those of the getter, not the argument of the setter`() {
      t.add(w, "small")
      t.small = 99
      #expect(w.lines == ["0>10"])
      t.remove(w, "small")
    }

    @Test func `13: The old value lives until the callback returns, although the setter has released it`() {
      weak var old: T?
      var seen: T?
      do {
        let child = T("old", v: 5)
        (old, t.child) = (child, child)
      }
      t.add(w, "child", [.old])
      w.reaction = { seen = old }
      t.child = nil
      #expect(w.lines == ["old>-"])
      #expect(seen?.v == 5)
      t.remove(w, "child")
    }

    @Test func `47, 48, 389: Removal removes the newest registration, with a context the newest with that context`() {
      t.add(w, "v", [.old], ctx: 1)
      t.add(w, "v", [.new], ctx: 1)
      t.add(w, "v", [], ctx: 2)
      t.remove(w, "v")
      t.v = 1
      #expect(w.take() == ["->1 ctx1", "0>- ctx1"])
      t.remove(w, "v", ctx: 1)
      t.v = 2
      #expect(w.take() == ["1>- ctx1"])
      t.remove(w, "v")
    }

    @Test(arguments: ["", ".", ".v", "v.", "child..v"])
    func `58, 59: A key path with an empty component is a fault`(path: String) {
      #expect(codes { t.add(w, path, []) } == [10])
      #expect(t.observationInfo == nil)
    }

    @Test func `61: Changing the string after registration has no effect`() {
      let path = NSMutableString(string: "v")
      t.add(w, String(describing: path), [])
      path.append("x")
      t.v = 1
      #expect(w.lines == ["->-"])
      t.remove(w, "v")
    }

    @Test func `64: An override of observationInfo changes its value, but no observation`() {
      let own = OwnInfo()
      own.add(w, "v")
      #expect((own as any KeyValueObservable).observationInfo == nil)
      own.v = 1
      #expect(w.lines == ["0>1"])
      own.remove(w, "v")
    }

    @Test func `67: An observer may observe any number of objects; Tests/Scaling counts what that costs`() {
      let all = (0..<5000).map { _ in T() }
      for each in all { each.add(w, "v", []) }
      for each in all { each.v = 1 }
      #expect(w.lines.count == 5000)
      for each in all { each.remove(w, "v") }
      #expect(all.allSatisfy { $0.observationInfo == nil })
    }

    @Test func `68: Observers that are equal are distinct observers`() {
      let (a, b) = (Equal(), Equal())
      t.addObserver(a, forKeyPath: "v")
      t.addObserver(b, forKeyPath: "v")
      t.removeObserver(a, forKeyPath: "v")
      t.v = 1
      #expect(a.count == 0 && b.count == 1)
      #expect(codes { t.removeObserver(a, forKeyPath: "v") } == [3])
      t.removeObserver(b, forKeyPath: "v")
    }

    @Test func `69, 70: An object may observe itself, and remove itself when it is deallocated`() {
      weak var gone: SelfObserver?
      let raised = codes {
        let own = SelfObserver()
        gone = own
        own.v = 1
        #expect(own.count == 1)
      }
      #expect(raised == [] && gone == nil)
    }
  }
#endif
