// Dependent keys: declared by name, declared by key path, or found by recording reads.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  private class Card {
    var first = "A"
    var last = "B"
    var friend: Card?
    var count = 0
    @NotObserved private var computed = ""

    /// Reads nothing observable; it notifies through the declaration only.
    var full: String { Hidden.value }
    var initials: String { Hidden.value }
    var nickname: String { Hidden.value }
    var manual = 0
    var friends: [Card] = []
    var popularity: String { Hidden.value }
    class var keyPathsForValuesAffectingPopularity: Set<String> { ["friends.count"] }
    var groups: [[Card]] = []
    var totals: String { Hidden.value }
    class var keyPathsForValuesAffectingTotals: Set<String> { ["friends.@sum.count", "groups.@unionOfArrays.count"] }

    class var keyPathsForValuesAffectingFull: Set<String> { ["first", "last"] }
    class func keyPathsForValuesAffectingInitials() -> Set<String> { ["full", "friend.first"] }
    nonisolated class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
      key == "nickname" ? ["count"] : []
    }
    class var automaticallyNotifiesObserversOfManual: Bool { false }
  }

  /// Values that getters read without being recorded.
  private enum Hidden {
    static let value = "?"
  }

  @KeyValueObservable
  private final class Friendlier: Card {
    var smiles = 0
    override class var keyPathsForValuesAffectingFull: Set<String> {
      super.keyPathsForValuesAffectingFull.union(["smiles"])
    }
  }

  @KeyValueObservable
  private class Customized: NSKeyValueObservingCustomization {
    var width = 1
    var inner: Card?
    var area: Int { Hidden.value.count }
    var label: String { Hidden.value }
    var quiet = 0

    nonisolated class func keyPathsAffectingValue(for key: AnyKeyPath) -> Set<AnyKeyPath> {
      switch key {
      case \Customized.area: [\Customized.width]
      case \Customized.label: [\Customized.inner?.first, \Customized.area]
      default: []
      }
    }
    nonisolated class func automaticallyNotifiesObservers(for key: AnyKeyPath) -> Bool { key != \Customized.quiet }
  }

  @KeyValueObservable
  private final class CustomizedMore: Customized {
    var height = 1
  }

  /// Declares dependencies with members for single keys; one calls the method for another key.
  @KeyValueObservable
  private class Listed {
    var first = "A"
    var last = "B"
    var full: String { Hidden.value }
    var short: String { Hidden.value }
    class var keyPathsForValuesAffectingFull: Set<String> { ["first"] }
    class func keyPathsForValuesAffectingShort() -> Set<String> { keyPathsForValuesAffectingValue(forKey: "full") }
    class func automaticallyNotifiesObserversOfLast() -> Bool { false }
  }

  @KeyValueObservable
  private final class ListedMore: Listed {
    override class var keyPathsForValuesAffectingFull: Set<String> {
      super.keyPathsForValuesAffectingFull.union(["last"])
    }
  }

  @KeyValueObservable
  private final class Misdeclared {
    var name = ""
    var label: String { Hidden.value }
    class var keyPathsForValuesAffectingLabel: Set<String> { ["name", "name.", "..name"] }
  }

  @MainActor
  @KeyValueObservable
  private final class ListedBelow: KeyValueObject {
    var count = 0
    var total: Int { 0 }
    nonisolated class var keyPathsForValuesAffectingTotal: Set<String> { ["count"] }
    nonisolated class var automaticallyNotifiesObserversOfCount: Bool { false }
  }

  private final class Arrivals: KeyValueObserver, @unchecked Sendable {
    var count = 0
    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      count += 1
    }
  }

  /// Keys that all affect each other, by name and so that evaluating one evaluates all others.
  @KeyValueObservable
  private final class Tangle {
    var a = 0
    var b = 0
    var c = 0
    var d = 0
    var e = 0
    var f = 0
    var g = 0
    var h = 0
    var i = 0
    var j = 0
    var k = 0
    var l = 0
    nonisolated static let keys = "abcdefghijkl".map { String($0) }
    nonisolated static func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
      Set(keys).subtracting([key])
    }
  }

  @KeyValueObservable
  private final class Impossible {
    var itself = 1
    var head: Impossible?
    nonisolated static func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
      switch key {
      case "itself": ["itself", "head"]
      case "head": ["head.itself"]
      default: []
      }
    }
  }

  /// Declares the dependencies of its computed properties; their getters read more.
  @KeyValueObservable
  private class Tally {
    var a = 1
    var b = 1
    var sum: Int { a + b }
    var manual: Int { a + b }
    var found: Int { sum }
    var next: Tally?
    var nextSum: Int { (next?.sum ?? 0) + b }
    class var keyPathsForValuesAffectingSum: Set<String> { ["a"] }
    class var keyPathsForValuesAffectingNextSum: Set<String> { ["next.sum"] }
    class var automaticallyNotifiesObserversOfManual: Bool { false }
  }

  @Suite("Dependent keys")
  struct DependentKeyTests {
    /// Returns the number of notifications of a key while a body runs. It is observed by string and by key path, which must agree.
    private func delivered<Object: KeyValueObservable, Value>(
      _ object: Object, _ key: String, _ path: KeyPath<Object, Value>, _ body: () -> Void
    ) -> Int {
      let watcher = Watcher()
      nonisolated(unsafe) var typed = 0
      let token = object.observe(path) { _, _ in typed += 1 }
      object.addObserver(watcher, forKeyPath: key)
      body()
      object.removeObserver(watcher, forKeyPath: key)
      token.invalidate()
      #expect(typed == watcher.log.lines.count)
      return typed
    }

    @Test func `The methods for any key call the members for single keys, as on Apple's platforms`() {
      #expect(Card.keyPathsForValuesAffectingValue(forKey: "nickname") == ["count"])
      #expect(Listed.keyPathsForValuesAffectingValue(forKey: "full") == ["first"])
      #expect(ListedMore.keyPathsForValuesAffectingValue(forKey: "full") == ["first", "last"])
      #expect(ListedMore.keyPathsForValuesAffectingValue(forKey: "short") == ["first", "last"])
      #expect(Listed.keyPathsForValuesAffectingValue(forKey: "first").isEmpty)
      #expect(!Listed.automaticallyNotifiesObservers(forKey: "last"))
      #expect(Listed.automaticallyNotifiesObservers(forKey: "first"))
      #expect(!ListedBelow.automaticallyNotifiesObservers(forKey: "count"))
      #expect(ListedBelow.keyPathsForValuesAffectingValue(forKey: "total") == ["count"])
    }

    @Test(.timeLimit(.minutes(1))) func `Twelve keys that affect each other are observed and set at once`() {
      let tangle = Tangle()
      let watcher = Arrivals()
      tangle.addObserver(watcher, forKeyPath: "a", options: [.old, .new])
      tangle.addObserver(watcher, forKeyPath: "l")
      let token = tangle.observe(\.c) { _, _ in watcher.count += 1 }
      for number in 0..<10 { tangle.setValue(number, forKey: Tangle.keys[number]) }
      #expect(watcher.count == 30)
      token.invalidate()
      tangle.removeObserver(watcher, forKeyPath: "a")
      tangle.removeObserver(watcher, forKeyPath: "l")
    }

    @Test func `A class property keyPathsForValuesAffecting<Key> declares what affects a key`() {
      let card = Card()
      #expect(delivered(card, "full", \.full) { card.first = "C" } == 1)
      #expect(delivered(card, "full", \.full) { card.last = "C" } == 1)
      #expect(delivered(card, "full", \.full) { card.count = 1 } == 0)
    }

    @Test func `A class method declares it too, with key paths and with keys that depend on others`() {
      let card = Card()
      let friend = Card()
      #expect(delivered(card, "initials", \.initials) { card.first = "C" } == 1)
      #expect(delivered(card, "initials", \.initials) { card.friend = friend } == 1)
      #expect(delivered(card, "initials", \.initials) { friend.first = "D" } == 1)
      #expect(delivered(card, "initials", \.initials) { friend.last = "D" } == 0)
    }

    @Test func `Both kinds of declarations are combined`() {
      let card = Card()
      #expect(delivered(card, "nickname", \.nickname) { card.count += 1 } == 1)
    }

    @Test func `The declared dependencies of a computed property replace the reads of its getter`() {
      let tally = Tally()
      #expect(delivered(tally, "sum", \.sum) { tally.a += 1 } == 1)
      #expect(delivered(tally, "sum", \.sum) { tally.b += 1 } == 0)
      // Without a declaration everything that is read counts, also within other getters.
      #expect(delivered(tally, "found", \.found) { tally.b += 1 } == 1)
      let next = Tally()
      tally.next = next
      #expect(delivered(tally, "nextSum", \.nextSum) { next.a += 1 } == 1)
      #expect(delivered(tally, "nextSum", \.nextSum) { next.b += 1 } == 0)
      #expect(delivered(tally, "nextSum", \.nextSum) { tally.b += 1 } == 0)
      #expect(delivered(tally, "nextSum", \.nextSum) { tally.next = nil } == 1)
    }

    @Test func `They also do so at the end of a string key path`() {
      let (tally, next, watcher) = (Tally(), Tally(), Watcher())
      tally.next = next
      tally.addObserver(watcher, forKeyPath: "next.sum", options: [.old, .new])
      next.b = 5
      next.a = 2
      tally.next = nil
      tally.removeObserver(watcher, forKeyPath: "next.sum")
      #expect(watcher.log.lines == ["next.sum 6>7", "next.sum 7><null>"])
    }

    @Test func `A computed property that is announced manually notifies by announcement only`() {
      let tally = Tally()
      #expect(delivered(tally, "manual", \.manual) { tally.a += 1 } == 0)
      let announced = delivered(tally, "manual", \.manual) {
        tally.willChangeValue(forKey: "manual")
        tally.a += 1
        tally.didChangeValue(forKey: "manual")
      }
      #expect(announced == 1)
    }

    @Test func `A declared path may go through a collection, and depends on it and on each element`() {
      let (card, friend, former) = (Card(), Card(), Card())
      card.friends = [friend, former]
      #expect(delivered(card, "popularity", \.popularity) { friend.count += 1 } == 1)
      #expect(delivered(card, "popularity", \.popularity) { friend.first = "x" } == 0)
      #expect(delivered(card, "popularity", \.popularity) { card.friends.removeLast() } == 1)
      #expect(delivered(card, "popularity", \.popularity) { former.count += 1 } == 0)
    }

    @Test func `A declared path may contain an operator, and depends on the collection and on each operand`() {
      let (card, friend, distant) = (Card(), Card(), Card())
      card.friends = [friend]
      card.groups = [[], [distant]]
      #expect(delivered(card, "totals", \.totals) { friend.count += 1 } == 1)
      #expect(delivered(card, "totals", \.totals) { distant.count += 1 } == 1)
      #expect(delivered(card, "totals", \.totals) { friend.first = "x" } == 0)
      #expect(delivered(card, "totals", \.totals) { card.friends.removeLast() } == 1)
      #expect(delivered(card, "totals", \.totals) { friend.count += 1 } == 0)
    }

    @Test func `A subclass extends its superclass's declarations`() {
      let card = Friendlier()
      #expect(delivered(card, "full", \.full) { card.smiles += 1 } == 1)
      #expect(delivered(card, "full", \.full) { card.first = "C" } == 1)
      let plain = Card()
      #expect(delivered(plain, "full", \.full) { plain.first = "C" } == 1)
    }

    @Test func `automaticallyNotifiesObserversOf<Key> makes a key manual`() {
      let card = Card()
      #expect(delivered(card, "manual", \.manual) { card.manual = 1 } == 0)
      let announced = delivered(card, "manual", \.manual) {
        card.willChangeValue(forKey: "manual")
        card.manual = 2
        card.didChangeValue(forKey: "manual")
      }
      #expect(announced == 1)
    }

    @Test func `NSKeyValueObservingCustomization declares dependencies with key paths, also transitive ones`() {
      let object = Customized()
      #expect(delivered(object, "area", \.area) { object.width = 2 } == 1)
      #expect(delivered(object, "label", \.label) { object.width = 2 } == 1)
      let inner = Card()
      #expect(delivered(object, "label", \.label) { object.inner = inner } == 1)
      #expect(delivered(object, "label", \.label) { inner.first = "x" } == 1)
      #expect(delivered(object, "label", \.label) { inner.last = "x" } == 0)
      #expect(delivered(object, "quiet", \.quiet) { object.quiet = 2 } == 0)
    }

    @Test func `NSKeyValueObservingCustomization applies to a subclass, whose key paths are different`() {
      let object = CustomizedMore()
      #expect(delivered(object, "area", \.area) { object.width = 2 } == 1)
      let inner = Card()
      #expect(delivered(object, "label", \.label) { object.inner = inner } == 1)
      #expect(delivered(object, "label", \.label) { inner.first = "x" } == 1)
      #expect(delivered(object, "quiet", \.quiet) { object.quiet = 2 } == 0)
    }

    @Test func `A key that is declared to affect itself is a fault at registration, and is still observed`() {
      var sentences: [String] = []
      let object = Impossible()
      KeyValueFault.withHandler {
        sentences.append("\($0.code) \($0.exceptionName ?? "-") \($0.appleSentence ?? "-")")
        return .ignore
      } in: {
        let watcher = Watcher()
        object.addObserver(watcher, forKeyPath: "itself")
        object.itself = 2
        object.removeObserver(watcher, forKeyPath: "itself")
        #expect(watcher.log.lines.count == 1)
      }
      #expect(
        sentences == [
          "39 NSInternalInconsistencyException Impossible: A +keyPathsForValuesAffectingValueForKey: message returned a set "
            + "that includes the same key that was passed in, which is not valid.\nPassed-in key: itself\n"
            + "Returned key path set: {(\n    head,\n    itself\n)}"
        ])
    }

    @Test func `A malformed declared path is a fault when its key is observed, and no other declaration is lost`() {
      var sentences: [String] = []
      KeyValueFault.withHandler {
        sentences.append("\($0.code) \($0.report.split(separator: "\n")[0])")
        return .ignore
      } in: {
        let (object, watcher) = (Misdeclared(), Watcher())
        object.addObserver(watcher, forKeyPath: "name")
        #expect(sentences.isEmpty)
        object.addObserver(watcher, forKeyPath: "label")
        object.name = "x"
        #expect(watcher.log.lines.count == 2)
        object.removeObserver(watcher, forKeyPath: "name")
        object.removeObserver(watcher, forKeyPath: "label")
      }
      #expect(sentences.count == 1)
      #expect(
        sentences.first?.hasPrefix(
          #"10 KVO0010 fatal: the key path "..name", declared to affect "label" of Misdeclared, is malformed, at "#)
          == true)
    }

    @Test func `A key that is declared to affect the head of a path to it is the same fault`() {
      var codes: [Int] = []
      let object = Impossible()
      KeyValueFault.withHandler {
        codes.append($0.code)
        #expect($0.appleSentence?.contains("a key path that starts with the same key") == true)
        return .ignore
      } in: {
        object.observe(\.head) { _, _ in }.invalidate()
      }
      #expect(codes == [39])
    }
  }
#endif
