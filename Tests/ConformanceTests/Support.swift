// Common code of the conformance tests: the model class, a log, and an observer that writes to it.
#if Macros
  import CKVO
  import Foundation
  import KeyValueObserving

  /// The model of most tests.
  @KeyValueObservable
  class T {
    var v = 0
    var d = 0.5
    var flag = false
    var range = NSRange(location: 1, length: 2)
    var s: String?
    var any: Any?
    var child: T?
    weak var boss: T?
    var children: [T] = []
    var list: [Int] = []
    var maybe: [Int]?
    var bag: Set<Int> = []
    /// Clamped by didSet.
    var small = 0 { didSet { if small > 10 { small = 10 } } }
    /// Announced manually.
    var manual = 0
    var manualList: [Int] = []
    @NotObserved var name = "T"

    init(_ name: String = "T", v: Int = 0) {
      self.name = name
      self.v = v
    }

    class func automaticallyNotifiesObservers(forKey key: String) -> Bool { !key.hasPrefix("manual") }
  }

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

  /// An observer that logs `[name ][kind ][prior ]old>new[ at [indexes]][ ctx]`: "-" is a missing value, "null" is NSNull. The kind
  /// of a setting is omitted.
  final class Watcher: KeyValueObserver, @unchecked Sendable {
    let name: String
    let log: Log
    /// Called after the line was logged.
    var reaction: (() -> Void)?
    /// The change dictionaries.
    private(set) var changes: [[NSKeyValueChangeKey: Any]] = []
    private(set) var objects: [AnyObject] = []

    init(_ name: String = "", _ log: Log = Log()) { (self.name, self.log) = (name, log) }

    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      let change = change ?? [:]
      changes.append(change)
      if let object = object as? AnyObject { objects.append(object) }
      var line = name.isEmpty ? "" : "\(name) "
      let kind = (change[.kindKey] as? UInt).flatMap(NSKeyValueChange.init)
      if kind != .setting { line += kind.map { "\($0) " } ?? "no kind " }
      if change[.notificationIsPriorKey] as? Bool == true { line += "prior " }
      line += text(change[.oldKey]) + ">" + text(change[.newKey])
      if let indexes = change[.indexesKey] as? IndexSet { line += " at \(Array(indexes))" }
      if let context { line += " ctx\(UInt(bitPattern: context))" }
      log.add(line)
      reaction?()
    }

    var lines: [String] { log.lines }
    func take() -> [String] { log.take() }
  }

  /// Returns a value as text for the logs.
  func text(_ value: Any?) -> String {
    switch value {
    case nil: "-"
    case is NSNull: "null"
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

    /// Removes the registration with a context.
    func remove(_ watcher: Watcher, _ keyPath: String, ctx: Int) {
      removeObserver(watcher, forKeyPath: keyPath, context: context(ctx))
    }
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

  /// Returns the faults of a body as Apple's exceptions and messages, with each address as 0xPTR.
  func sentences(_ body: () -> Void) -> [String] {
    faults(body).map { fault in
      let sentence = (fault.appleSentence ?? "-").replacing(/0x[0-9a-f]+/, with: "0xPTR")
      return "\(fault.exceptionName ?? "-") \(sentence)"
    }
  }
#endif
