// Common code of the conformance tests: a log, observers that write to it, and the model classes.
#if Macros
  import CKVO
  import Foundation
  import KeyValueObserving

  /// The notifications in order; used on the test's own thread only.
  final class Log: @unchecked Sendable {
    private(set) var lines: [String] = []
    func add(_ line: String) { lines.append(line) }
    /// Returns the lines since the last call.
    func take() -> [String] {
      defer { lines = [] }
      return lines
    }
  }

  /// An observer that logs `name[ path] [kind ][prior ]old>new[ at [indexes]][ ctx]`: "-" is a missing value, "null" is NSNull. The
  /// kind of a setting is omitted, and so is the path unless requested.
  final class Watcher: KeyValueObserver, @unchecked Sendable {
    let name: String
    let log: Log
    let logsPath: Bool
    /// Called after the line was logged, with `true` for a prior notification.
    var reaction: ((Bool) -> Void)?
    /// The change dictionaries.
    private(set) var changes: [[NSKeyValueChangeKey: Any]] = []
    private(set) var objects: [AnyObject] = []

    init(_ name: String = "w", _ log: Log = Log(), path: Bool = false) {
      (self.name, self.log, logsPath) = (name, log, path)
    }

    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      let change = change ?? [:]
      changes.append(change)
      if let object = object as? AnyObject { objects.append(object) }
      var line = logsPath ? "\(name) \(keyPath ?? "nil") " : "\(name) "
      let kind = (change[.kindKey] as? UInt).flatMap(NSKeyValueChange.init)
      if kind != .setting { line += kind.map { "\($0) " } ?? "no kind " }
      let isPrior = change[.notificationIsPriorKey] as? Bool == true
      if isPrior { line += "prior " }
      line += text(change[.oldKey]) + ">" + text(change[.newKey])
      if let indexes = change[.indexesKey] as? IndexSet { line += " at \(Array(indexes))" }
      if let context { line += " ctx\(UInt(bitPattern: context))" }
      log.add(line)
      reaction?(isPrior)
    }

    var lines: [String] { log.lines }
    func take() -> [String] { log.take() }
  }

  /// Returns a value as text for the logs.
  func text(_ value: Any?) -> String {
    switch value {
    case nil: "-"
    case is NSNull: "null"
    case let set as Set<Int>: "{\(set.sorted().map { "\($0)" }.joined(separator: " "))}"
    case let named as T: named.name
    case let value?: "\(value)"
    }
  }

  /// Returns a context with a numeric address.
  func context(_ number: Int) -> UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: number) }

  extension KeyValueObservable {
    /// Registers a watcher.
    func add(
      _ watcher: Watcher, _ keyPath: String, _ options: NSKeyValueObservingOptions = [.old, .new], ctx: Int = 0
    ) { addObserver(watcher, forKeyPath: keyPath, options: options, context: context(ctx)) }

    func remove(_ watcher: Watcher, _ keyPath: String) { removeObserver(watcher, forKeyPath: keyPath) }

    /// Removes the registration with a context, 0 for the one without.
    func remove(_ watcher: Watcher, _ keyPath: String, ctx: Int) {
      removeObserver(watcher, forKeyPath: keyPath, context: context(ctx))
    }

    /// Whether the isa is the notifying class.
    var isSwizzled: Bool { kvo_object_isa(__keyValueObject) != kvo_object_class(__keyValueObject) }
  }

  /// Runs a body and returns its faults, which are ignored.
  func faults(_ body: () -> Void) -> [KeyValueFault] {
    var faults: [KeyValueFault] = []
    KeyValueFault.withHandler {
      faults.append($0)
      return .ignore
    } in: {
      body()
    }
    return faults
  }

  /// Returns the codes of a body's faults.
  func codes(_ body: () -> Void) -> [Int] { faults(body).map(\.code) }

  /// Returns Apple's message with each address as 0xPTR, after the name of the exception.
  func appleText(_ fault: KeyValueFault) -> String {
    let sentence = (fault.appleSentence ?? "-").replacing(/0x[0-9a-f]+/, with: "0xPTR")
    return "\(fault.exceptionName ?? "-") \(sentence)"
  }

  /// The model of most tests.
  @KeyValueObservable
  class T {
    var v = 0
    var d = 0.5
    var flag = false
    var range = NSRange(location: 1, length: 2)
    var s: String?
    var child: T?
    weak var boss: T?
    var list: [Int] = []
    var bag: Set<Int> = []
    /// Clamped by didSet.
    var small = 0 { didSet { if small > 10 { small = 10 } } }
    /// Announced manually.
    var manual = 0
    @NotObserved var name = "T"
    /// Storage that changes without a notification.
    @NotObserved var hiddenChild: T?

    init(_ name: String = "T", v: Int = 0) {
      self.name = name
      self.v = v
    }

    class func automaticallyNotifiesObservers(forKey key: String) -> Bool { key != "manual" }
  }

  /// Overrides a setter and calls super.
  final class Sub: T {
    override var v: Int {
      get { super.v }
      set { super.v = newValue }
    }
    func setThroughSuper(_ value: Int) { super.v = value }
  }
#endif
