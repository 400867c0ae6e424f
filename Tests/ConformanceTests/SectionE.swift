// Section E of Documentation/AppleCompatibility.md: registration and removal.
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

  @KeyValueObservable
  private final class German {
    // swift-format-ignore: IdentifiersMustBeASCII
    var Lücke = 0
    // swift-format-ignore: IdentifiersMustBeASCII
    var änderung = 0
  }

  /// A class that overrides observationInfo.
  @KeyValueObservable
  private final class OwnInfo {
    var v = 0
    var observationInfo: UnsafeMutableRawPointer? { nil }
  }

  @Suite("E. Registration and removal")
  struct SectionE {
    let t = T()
    let w = Watcher()

    @Test func `43: Neither the object nor the observer is retained`() {
      weak var object: T?
      weak var observer: Watcher?
      do {
        let (t, w) = (T(), Watcher())
        (object, observer) = (t, w)
        t.add(w, "v")
        t.add(w, "child.v")
        t.remove(w, "v")
        t.remove(w, "child.v")
      }
      #expect(object == nil && observer == nil)
    }

    @Test func `44, 45: Registering twice notifies twice, each with its own options and context`() {
      t.add(w, "v", [.new], ctx: 1)
      t.add(w, "v", [.new], ctx: 1)
      t.add(w, "v", [.old], ctx: 2)
      t.v = 1
      #expect(w.lines == ["w 0>- ctx2", "w ->1 ctx1", "w ->1 ctx1"])
      for ctx in [1, 1, 2] { t.remove(w, "v", ctx: ctx) }
    }

    @Test func `46: Each removal removes one registration`() {
      for _ in 0..<3 { t.add(w, "v", []) }
      for left in [2, 1, 0] {
        t.remove(w, "v")
        t.v += 1
        #expect(w.take().count == left)
      }
    }

    @Test func `47, 48, 389: Removal removes the newest registration, with a context the newest with that context`() {
      t.add(w, "v", [.old], ctx: 1)
      t.add(w, "v", [.new], ctx: 1)
      t.add(w, "v", [], ctx: 2)
      t.remove(w, "v")
      t.v = 1
      #expect(w.take() == ["w ->1 ctx1", "w 0>- ctx1"])
      t.remove(w, "v", ctx: 1)
      t.v = 2
      #expect(w.take() == ["w 1>- ctx1"])
      t.remove(w, "v")
    }

    @Test func `49, 50: A nil context matches nil only, and a wrong one removes nothing`() {
      t.add(w, "v", [], ctx: 7)
      #expect(codes { t.remove(w, "v", ctx: 0) } == [2])
      #expect(codes { t.remove(w, "v", ctx: 8) } == [2])
      t.v = 1
      #expect(w.lines == ["w ->- ctx7"])
      t.remove(w, "v", ctx: 7)
    }

    @Test func `52, 53: Removing an unregistered observer is one fault, also of a path with an undefined key`() {
      #expect(codes { t.remove(w, "v") } == [2])
      #expect(codes { t.remove(w, "nothing.at.all") } == [2])
      #expect(codes { t.remove(w, "child.nothing", ctx: 1) } == [2])
    }

    @Test(arguments: [[], [.old], [.new]] as [NSKeyValueObservingOptions])
    func `54: An undefined single key is accepted; it is a fault when a change needs its value`(
      options: NSKeyValueObservingOptions
    ) {
      #expect(codes { t.add(w, "nothing", options) } == [11])
      let raised = codes {
        t.willChangeValue(forKey: "nothing")
        t.didChangeValue(forKey: "nothing")
      }
      #expect(raised == (options == [] ? [] : [9]))
      t.remove(w, "nothing")
    }

    @Test func `55: A path whose head is undefined is a fault at registration, and nothing stays registered`() {
      #expect(codes { t.add(w, "nothing.v", []) } == [9])
      #expect(t.observationInfo == nil)
      #expect(codes { t.remove(w, "nothing.v") } == [2])
    }

    @Test(arguments: ["", ".", ".v", "v.", "child..v"])
    func `58, 59: A key path with an empty component is a fault`(path: String) {
      #expect(codes { t.add(w, path, []) } == [10])
      #expect(t.observationInfo == nil)
    }

    @Test func `60: Keys need not be ASCII`() {
      let german = German()
      german.add(w, "Lücke")
      german.add(w, "änderung")
      german.Lücke = 1
      german.änderung = 2
      #expect(w.lines == ["w 0>1", "w 0>2"])
      german.remove(w, "Lücke")
      german.remove(w, "änderung")
    }

    @Test func `61: Changing the string after registration has no effect`() {
      let w = Watcher(path: true)
      let path = NSMutableString(string: "v")
      t.add(w, String(describing: path), [])
      path.append("x")
      t.v = 1
      #expect(w.lines == ["w v ->-"])
      t.remove(w, "v")
    }

    @Test func `62, 63: observationInfo is non-nil while something is registered, also on a path's objects`() {
      let child = T()
      t.child = child
      #expect(t.observationInfo == nil && child.observationInfo == nil)
      t.add(w, "child.v")
      t.add(w, "v")
      #expect(t.observationInfo != nil && child.observationInfo != nil)
      #expect(t.isSwizzled && child.isSwizzled)
      t.remove(w, "child.v")
      #expect(t.observationInfo != nil && child.observationInfo == nil)
      t.remove(w, "v")
      #expect(t.observationInfo == nil)
      #expect(!t.isSwizzled && !child.isSwizzled)
    }

    @Test func `64: An override of observationInfo changes its value, but no observation`() {
      let own = OwnInfo()
      own.add(w, "v")
      #expect((own as any KeyValueObservable).observationInfo == nil)
      own.v = 1
      #expect(w.lines == ["w 0>1"])
      own.remove(w, "v")
    }

    @Test(.timeLimit(.minutes(1)))
    func `67: The cost of a registration does not depend on how many objects the observer observes`() {
      // If the cost grew with their number, 10^10 steps would be needed.
      let all = (0..<100_000).map { _ in T() }
      for each in all { each.add(w, "v", []) }
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
