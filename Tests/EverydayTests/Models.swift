// The classes that these tests observe, and those that observe.
#if Macros
  import Foundation
  import KeyValueObserving

  @KeyValueObservable
  final class Author {
    var name: String

    init(_ name: String) { self.name = name }
  }

  /// A class without isolation, which stays in one region.
  @KeyValueObservable
  final class Document {
    var title = ""
    var pages = 0
    var tags: [String] = []
    var author: Author?
    var summary: String { "\(title) (\(pages))" }
  }

  /// A receiver that can be observed itself.
  @KeyValueObservable
  final class Panel {
    var caption = ""
    var log: [String] = []
  }

  /// A receiver that cannot be observed.
  final class Listener {
    var log: [String] = []
  }

  /// A receiver that several threads may use.
  final class SharedListener: Sendable {}

  /// A class that several threads use.
  @KeyValueObservable
  final class SharedDocument: @unchecked Sendable {
    var title = ""
    var pages = 0
    var author: Author?
    var tags: [String] = []

    init() {}
  }

  /// Collections that several threads use.
  @KeyValueObservable
  final class SharedList: @unchecked Sendable {
    var items: [Int] = []
    var marks: Set<Int> = []
    var other = 0

    init() {}
  }

  /// A number that several threads set: it is behind a lock, and announced manually.
  @KeyValueObservable
  final class SharedCounter: @unchecked Sendable {
    @NotObserved private let lock = NSLock()  // not a Mutex, which ThreadSanitizer does not know
    @NotObserved private var stored = 0
    @NotObserved private var setWhenRead: Int?
    var number: Int {
      get {
        let (value, next) = lock.withLock { (stored, setWhenRead.take()) }
        if let next { elsewhere { self.number = next } }
        return value
      }
      set {
        willChangeValue(for: \.number)
        lock.withLock { stored = newValue }
        didChangeValue(for: \.number)
      }
    }

    init() {}

    /// The next reader gets the present value, and before he does, another thread sets this one.
    func setWhenRead(to number: Int) { lock.withLock { setWhenRead = number } }
  }

  /// A classic observer that logs what it is notified of.
  protocol ClassicLogger: KeyValueObserver {
    var log: Log<String> { get }
  }

  extension ClassicLogger {
    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      log.add(describe(keyPath, change))
    }
  }

  /// One that can be observed itself.
  @KeyValueObservable
  final class ClassicPanel: ClassicLogger {
    @NotObserved let log: Log<String>

    init(_ log: Log<String> = Log()) { self.log = log }
  }

  /// One that cannot be observed.
  final class ClassicListener: ClassicLogger, @unchecked Sendable {
    let log: Log<String>

    init(_ log: Log<String> = Log()) { self.log = log }
  }

  /// A change as text: `path old>new`, with the values that it has.
  private func describe(_ keyPath: String?, _ change: [NSKeyValueChangeKey: Any]?) -> String {
    let values = [change?[.oldKey], change?[.newKey]].compactMap { $0.map { "\($0)" } }
    let kind = (change?[.kindKey] as? UInt).flatMap { NSKeyValueChange(rawValue: $0) }
    let name =
      kind == .setting ? "" : kind == .insertion ? " insertion" : kind == .removal ? " removal" : " replacement"
    return ([keyPath! + name] + (values.isEmpty ? [] : [values.joined(separator: ">")])).joined(separator: " ")
  }

  /// Corrects each value that it is set to.
  @KeyValueObservable
  final class Corrected {
    @NotObserved private let correct: (Int) -> Int
    var value = 0 { didSet { if value != correct(value) { value = correct(value) } } }

    init(_ correct: @escaping (Int) -> Int) { self.correct = correct }
  }
#endif
