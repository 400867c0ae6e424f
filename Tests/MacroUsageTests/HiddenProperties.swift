// Classes with properties that code outside this file, and so a subclass elsewhere, does not see.
#if Macros
  import KeyValueObserving
  import Synchronization

  @KeyValueObservable
  open class Control<Element> {
    private var items: [Element] = []
    private weak var peer: Peer?
    private var count: Int { items.count }
    private var title = "base" { didSet { titlesSet += 1 } }
    private let id = 1
    var titlesSet = 0

    init() {}
    func add(_ element: Element) { items.append(element) }
    func rename(_ title: String) { self.title = title }
    func meet(_ peer: Peer?) { self.peer = peer }
    func announceTitle() {
      willChangeValue(for: \.title)
      didChangeValue(for: \.title)
    }

    func observeAll(_ log: Log) -> [NSKeyValueObservation] {
      [
        record(\.items, as: "base items", to: log), record(\.count, as: "base count", to: log),
        record(\.title, as: "base title", to: log), record(\.peer?.age, as: "base age", to: log),
      ]
    }
  }

  @KeyValueObservable final class Peer { var age = 1 }

  /// By names, in its methods, it declares what its private properties affect and how they notify.
  @KeyValueObservable
  class Sheet {
    private let name: String? = "sheet"
    fileprivate private(set) var title = "base"
    fileprivate var items = [1]
    private var sum = 0
    private var state = 0
    private let lock = Mutex(0)

    var total: Int { sum }
    class func keyPathsForValuesAffectingTotal() -> Set<String> { ["sum"] }
    class func automaticallyNotifiesObserversOfState() -> Bool { false }

    var itemsNow: [Int] { items }
    func rename(_ title: String) { self.title = title }
    func add() { sum += 1 }
    func advance() {
      willChangeValue(for: \.state)
      state += 1
      didChangeValue(for: \.state)
    }
    func observeState(_ log: Log) -> NSKeyValueObservation { record(\.state, as: "base", to: log) }
  }

  /// The same by key paths.
  @KeyValueObservable
  class TypedSheet: NSKeyValueObservingCustomization {
    private var sum = 0
    private var state = 0
    var total: Int { sum }
    func add() { sum += 1 }
    func advance() {
      willChangeValue(for: \.state)
      state += 1
      didChangeValue(for: \.state)
    }
    func observeState(_ log: Log) -> NSKeyValueObservation { record(\.state, as: "base", to: log) }

    static func keyPathsAffectingValue(for key: AnyKeyPath) -> Set<AnyKeyPath> {
      key == \TypedSheet.total ? [\TypedSheet.sum] : []
    }
    static func automaticallyNotifiesObservers(for key: AnyKeyPath) -> Bool { key != \TypedSheet.state }
  }

  /// With dependencies on private properties, which subclasses declare again.
  @KeyValueObservable
  class Summary {
    private var part = 1
    private var rest = 1
    var lines = 0
    var sum: Int { lines }
    var mean: Int { lines }
    class func keyPathsForValuesAffectingSum() -> Set<String> { ["part"] }
    class func keyPathsForValuesAffectingMean() -> Set<String> { ["part"] }
    func change() {
      part += 1
      rest += 1
    }
  }

  func observeTitle(of sheet: Sheet, _ log: Log) -> NSKeyValueObservation {
    sheet.record(\.title, as: "title", to: log)
  }

  private protocol HasTitle: KeyValueObservable {
    var title: String { get }
  }
  extension Sheet: HasTitle {}

  /// With a key path to a requirement, which is not one that the class lists.
  private func observeAny<Titled: HasTitle>(of object: Titled, _ log: Log) -> NSKeyValueObservation {
    object.record(\.title, as: "title", to: log)
  }
  func observeRequirement(of sheet: Sheet, _ log: Log) -> NSKeyValueObservation { observeAny(of: sheet, log) }

  @KeyValueObservable
  final class SheetHolder {
    var sheet: Sheet
    init(_ sheet: Sheet) { self.sheet = sheet }
  }

  func grow(_ holder: SheetHolder) { holder.mutableArrayValue(for: \.sheet.items).append(2) }

  func observeItems(of holder: SheetHolder, _ observer: ItemsObserver) {
    holder.observe(\.sheet.items, for: observer) { me, _, _ in me.changes += 1 }
  }

  final class ItemsObserver {
    var changes = 0
  }
#endif
