// Dependent keys: declared by name, declared by key path, or found by recording reads.
#if Macros
  import KeyValueObserving
  import Testing

  /// Its computed properties read nothing, and notify through their declarations only.
  @KeyValueObservable
  private class Card {
    var first = "A"
    var last = "B"
    var friend: Card?
    var count = 0
    var manual = 0
    var friends: [Card] = []
    var groups: [[Card]] = []
    var full: String { "?" }
    var initials: String { "?" }
    var nickname: String { "?" }
    var popularity: String { "?" }
    var totals: String { "?" }

    class var keyPathsForValuesAffectingFull: Set<String> { ["first", "last"] }
    class func keyPathsForValuesAffectingInitials() -> Set<String> { ["full", "friend.first"] }
    class var keyPathsForValuesAffectingPopularity: Set<String> { ["friends.count"] }
    class var keyPathsForValuesAffectingTotals: Set<String> { ["friends.@sum.count", "groups.@unionOfArrays.count"] }
    class func keyPathsForValuesAffectingNickname() -> Set<String> { keyPathsForValuesAffectingValue(forKey: "full") }
    class var automaticallyNotifiesObserversOfManual: Bool { false }
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
    var area: Int { 1 }
    var label: String { "?" }
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

  /// Its key paths are different ones.
  @KeyValueObservable
  private final class CustomizedMore: Customized {
    var height = 1
  }

  @MainActor
  @KeyValueObservable
  private final class ListedBelow: KeyValueObject {
    var count = 0
    var total: Int { 0 }
    nonisolated class var keyPathsForValuesAffectingTotal: Set<String> { ["count"] }
    nonisolated class var automaticallyNotifiesObserversOfCount: Bool { false }
  }

  @KeyValueObservable
  private final class Misdeclared {
    var name = ""
    var label: String { "?" }
    class var keyPathsForValuesAffectingLabel: Set<String> { ["name", "name.", "..name"] }
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
    var hinted: String { "?" }
    class var keyPathsForValuesAffectingSum: Set<String> { ["a"] }
    class var keyPathsForValuesAffectingNextSum: Set<String> { ["next.sum"] }
    nonisolated class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
      key == "hinted" ? ["a"] : []
    }
    class var automaticallyNotifiesObserversOfManual: Bool { false }
  }

  @Suite("Dependent keys")
  struct DependentKeyTests {
    private let card = Card()
    private let friend = Card()
    private let tally = Tally()

    @Test func `The methods for any key call the members for single keys, as on Apple's platforms`() {
      let affecting = [
        Card.keyPathsForValuesAffectingValue(forKey: "full"), Card.keyPathsForValuesAffectingValue(forKey: "nickname"),
        Friendlier.keyPathsForValuesAffectingValue(forKey: "full"),
        Friendlier.keyPathsForValuesAffectingValue(forKey: "nickname"),
        Card.keyPathsForValuesAffectingValue(forKey: "first"), Tally.keyPathsForValuesAffectingValue(forKey: "hinted"),
        ListedBelow.keyPathsForValuesAffectingValue(forKey: "total"),
      ]
      let (full, more): (Set, Set) = (["first", "last"], ["first", "last", "smiles"])
      #expect(affecting == [full, full, more, more, [], ["a"], ["count"]])
      #expect(Card.automaticallyNotifiesObservers(forKey: "first"))
      #expect(!Card.automaticallyNotifiesObservers(forKey: "manual"))
      #expect(!ListedBelow.automaticallyNotifiesObservers(forKey: "count"))
    }

    @Test func `Properties and methods of the class declare what affects a key, and a subclass adds to them`() {
      let full = notifications(of: card, \.full, "full")
      #expect(full({ card.first = "C" }, { card.last = "C" }, { card.count = 1 }) == [1, 1, 0])
      let hinted = notifications(of: tally, \.hinted, "hinted")
      #expect(hinted({ tally.a += 1 }, { tally.b += 1 }) == [1, 0])
      // Key paths, and keys that depend on others.
      let initials = notifications(of: card, \.initials, "initials")
      #expect(initials({ card.first = "C" }, { card.friend = friend }) == [1, 1])
      #expect(initials({ friend.first = "D" }, { friend.last = "D" }) == [1, 0])
      let friendlier = Friendlier()
      let more = notifications(of: friendlier, \.full, "full")
      #expect(more({ friendlier.smiles += 1 }, { friendlier.first = "C" }) == [1, 1])
    }

    @Test func `A declared path through a collection, also with an operator, depends on it and on each element`() {
      let (former, distant) = (Card(), Card())
      card.friends = [friend, former]
      card.groups = [[], [distant]]
      let popularity = notifications(of: card, \.popularity, "popularity")
      let totals = notifications(of: card, \.totals, "totals")
      #expect(popularity({ friend.count += 1 }, { friend.first = "x" }, { distant.count += 1 }) == [1, 0, 0])
      #expect(totals({ friend.count += 1 }, { friend.first = "x" }, { distant.count += 1 }) == [1, 0, 1])
      #expect(popularity { card.friends.removeLast() } + totals { card.friends.removeLast() } == [1, 1])
      #expect(popularity { former.count += 1 } + totals { friend.count += 1 } == [0, 0])
    }

    @Test func `The declared dependencies of a computed property replace the reads of its getter`() {
      let sum = notifications(of: tally, \.sum, "sum")
      #expect(sum({ tally.a += 1 }, { tally.b += 1 }) == [1, 0])
      // Without a declaration everything that is read counts, also within other getters.
      let found = notifications(of: tally, \.found, "found")
      #expect(found { tally.b += 1 } == [1])
      let next = Tally()
      tally.next = next
      let nextSum = notifications(of: tally, \.nextSum, "nextSum")
      #expect(nextSum({ next.a += 1 }, { next.b += 1 }, { tally.b += 1 }) == [1, 0, 0])
      #expect(nextSum { tally.next = nil } == [1])
    }

    @Test func `A stored or computed property that is declared as manual notifies by announcement only`() {
      let (stored, computed) = (
        notifications(of: card, \.manual, "manual"), notifications(of: tally, \.manual, "manual")
      )
      #expect(stored { card.manual = 1 } + computed { tally.a += 1 } == [0, 0])
      let announced = stored {
        card.willChangeValue(forKey: "manual")
        card.manual = 2
        card.didChangeValue(forKey: "manual")
      }
      let alsoAnnounced = computed {
        tally.willChangeValue(forKey: "manual")
        tally.a += 1
        tally.didChangeValue(forKey: "manual")
      }
      #expect(announced + alsoAnnounced == [1, 1])
    }

    @Test func `NSKeyValueObservingCustomization declares dependencies with key paths, also transitive ones`() {
      let object = Customized()
      let area = notifications(of: object, \.area, "area")
      let label = notifications(of: object, \.label, "label")
      let (quiet, inner) = (notifications(of: object, \.quiet, "quiet"), Card())
      #expect(area { object.width = 2 } + label { object.width = 2 } + quiet { object.quiet = 2 } == [1, 1, 0])
      #expect(label({ object.inner = inner }, { inner.first = "x" }, { inner.last = "x" }) == [1, 1, 0])
    }

    @Test func `NSKeyValueObservingCustomization applies to a subclass, whose key paths are different`() {
      let (object, inner) = (CustomizedMore(), Card())
      let label = notifications(of: object, \.label, "label")
      let quiet = notifications(of: object, \.quiet, "quiet")
      #expect(label({ object.width = 2 }, { object.inner = inner }, { inner.first = "x" }) == [1, 1, 1])
      #expect(quiet { object.quiet = 2 } == [0])
    }

    @Test func `A malformed declared path is a fault when its key is observed, and no other declaration is lost`() {
      let (object, watcher) = (Misdeclared(), Watcher())
      #expect(faults { object.addObserver(watcher, forKeyPath: "name") }.isEmpty)
      let raised = faults { object.addObserver(watcher, forKeyPath: "label") }
      object.name = "x"
      #expect(watcher.log.lines.count == 2)
      let start = #"KVO0010 fatal: the key path "..name", declared to affect "label" of Misdeclared, is malformed, at "#
      #expect(raised.map(\.code) == [10] && raised.first?.report.hasPrefix(start) == true)
      object.removeObserver(watcher, forKeyPath: "name")
      object.removeObserver(watcher, forKeyPath: "label")
    }
  }
#endif
