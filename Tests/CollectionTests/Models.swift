// The model classes and the recorder of the collection tests.
#if Macros
  import CKVO
  import Foundation
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  final class Item: NSObject {
    var name: String
    var copies: [Int] = []
    init(_ name: String) { self.name = name }
    override var description: String { name }
  }

  @KeyValueObservable
  class Library {
    var numbers: [Int] = []
    var names: [String]?
    var dense: ContiguousArray<Int> = [1, 2, 3]
    var anything: [Any] = []
    var items: [Item] = []
    var table: [String: [Int]] = ["row": [1]]
    var tags: Set<String> = []
    var labels: Set<String>?
    var mixed: Set<AnyHashable> = []
    var ranks: [String] = []
    var ordered = NSOrderedSet()
    @NotObserved var quietOrdered = NSOrderedSet(array: ["a"])
    /// Announced manually, with separate storage.
    var lines: [String] {
      get { lineStorage }
      set { lineStorage = newValue }
    }
    @NotObserved var lineStorage: [String] = []
    var marks: Set<Int> {
      get { markStorage }
      set { markStorage = newValue }
    }
    @NotObserved var markStorage: Set<Int> = []
    var optionalOrdered: NSMutableOrderedSet?
    var title = ""
    var quiet: [Int] = []
    var quietTags: Set<Int> = []
    @NotObserved var hidden: [Int] = []
    let fixed = [1, 2]
    var computed: [Int] {
      get { numbers }
      set { numbers = newValue }
    }
    var total: Int { numbers.count }
    var shownTags: Set<String> {
      get { tags }
      set { tags = newValue }
    }
    var shownRanks: [String]? {
      get { ranks }
      set { ranks = newValue ?? [] }
    }
    /// Declared as dependent on a computed property.
    var caption: String { "\(computed)" }
    class var keyPathsForValuesAffectingCaption: Set<String> { ["computed"] }
    /// Counts the stores.
    var watched: [Int] = [] { didSet { stores += 1 } }
    @NotObserved var stores = 0
    var branch: Library?

    nonisolated class func automaticallyNotifiesObservers(forKey key: String) -> Bool { !key.hasPrefix("quiet") }
  }

  /// A struct that is not Equatable.
  struct Opaque {
    let value: Int
  }

  @KeyValueObservable
  final class Shelf {
    var opaque: [Opaque] = []
    var objects: [Shelf] = []
    var crew: Set<Item> = []
    var matrix: [[Int]] = []
    var library = Library()
  }

  /// A thread-safe log of changes.
  final class Log: Sendable {
    private let lock = NSLock()
    private nonisolated(unsafe) var entries: [String] = []
    var lines: [String] { lock.withLock { entries } }
    func add(_ line: String) { lock.withLock { entries.append(line) } }
    func take() -> [String] {
      lock.withLock {
        defer { entries = [] }
        return entries
      }
    }
  }

  extension KeyValueObservable {
    /// Logs each change as `kind indexes old>new`, with `-` for a missing value.
    func log<Value>(
      _ path: KeyPath<Self, Value>, _ options: NSKeyValueObservingOptions = [.old, .new], as name: String = "",
      to log: Log
    ) -> NSKeyValueObservation {
      observe(path, options: options) { _, change in log.add(name + text(change)) }
    }

    /// Returns the changes of a property while a body runs.
    func changes<Value>(
      of path: KeyPath<Self, Value>, _ options: NSKeyValueObservingOptions = [.old, .new], _ body: () -> Void
    ) -> [String] {
      let log = Log()
      let token = self.log(path, options, to: log)
      body()
      token.invalidate()
      return log.lines
    }
  }

  /// Makes a change of elements in a copy of the collection, and expects that the old elements were there.
  func apply<Element: Equatable>(_ change: NSKeyValueObservedChange<[Element]>, to copy: inout [Element]) {
    let positions = change.indexes.map(Array.init) ?? []
    if change.kind == .removal || change.kind == .replacement { #expect(positions.map { copy[$0] } == change.oldValue) }
    switch change.kind {
    case .setting: copy = change.newValue!
    case .insertion: for (position, element) in zip(positions, change.newValue!) { copy.insert(element, at: position) }
    case .removal: for position in positions.reversed() { copy.remove(at: position) }
    case .replacement: for (position, element) in zip(positions, change.newValue!) { copy[position] = element }
    }
  }

  /// The SplitMix64 generator.
  struct Seeded: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
      return mixed ^ (mixed >> 31)
    }
    mutating func number(below bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
  }

  func text<Value>(_ change: NSKeyValueObservedChange<Value>) -> String {
    let prior = change.isPrior ? "prior " : ""
    let indexes = change.indexes.map { " \(Array($0))" } ?? ""
    return "\(prior)\(change.kind)\(indexes) \(text(change.oldValue))>\(text(change.newValue))"
  }

  /// Returns a value as text: without optionals, a set in sorted order, `-` for a missing value.
  func text<Value>(_ value: Value?) -> String {
    guard let value else { return "-" }
    var any = value as Any
    while Mirror(reflecting: any).displayStyle == .optional {
      guard let child = Mirror(reflecting: any).children.first else { return "nil" }
      any = child.value
    }
    if let ordered = any as? NSOrderedSet { return "\((0..<ordered.count).map(ordered.object(at:)))" }
    if let set = any as? any Collection, Mirror(reflecting: any).displayStyle == .set {
      return "{" + set.map { "\($0)" }.sorted().joined(separator: " ") + "}"
    }
    return "\(any)"
  }

  /// A classic observer that logs each change dictionary as `path kind indexes old>new`.
  final class ClassicRecorder: KeyValueObserver {
    let log: Log
    init(_ log: Log) { self.log = log }

    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      let prior = change?[.notificationIsPriorKey] == nil ? "" : "prior "
      let indexes = (change?[.indexesKey] as? IndexSet).map { " \(Array($0))" } ?? ""
      log.add(
        "\(prior)\(keyPath!) \(change?[.kindKey] as! UInt)\(indexes) \(text(change?[.oldKey]))>\(text(change?[.newKey]))"
      )
    }
  }

  /// Returns the faults that `body` raises; they are ignored.
  func faults(in body: () -> Void) -> [KeyValueFault] {
    nonisolated(unsafe) var faults: [KeyValueFault] = []
    KeyValueFault.withHandler { fault in
      faults.append(fault)
      return .ignore
    } in: {
      body()
    }
    return faults
  }

  func codes(_ body: () -> Void) -> [Int] { faults(in: body).map(\.code) }
#endif
