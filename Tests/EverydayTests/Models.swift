// The classes that the tests of receivers and delivery observe with.
#if Macros
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

    init() {}
  }

  /// A classic observer that can be observed itself.
  @KeyValueObservable
  class ClassicPanel: KeyValueObserver {
    @NotObserved let log: Log<String>

    init(_ log: Log<String> = Log()) { self.log = log }

    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      log.add(describe(keyPath, change))
    }
  }

  /// A classic observer that cannot be observed.
  final class ClassicListener: KeyValueObserver, @unchecked Sendable {
    let log: Log<String>

    init(_ log: Log<String> = Log()) { self.log = log }

    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      log.add(describe(keyPath, change))
    }
  }

  /// A change as text: `path old>new`, with the values that it has.
  private func describe(_ keyPath: String?, _ change: [NSKeyValueChangeKey: Any]?) -> String {
    let values = [change?[.oldKey], change?[.newKey]].compactMap { $0.map { "\($0)" } }
    let kind = (change?[.kindKey] as? UInt).flatMap { NSKeyValueChange(rawValue: $0) }
    let name =
      kind == .setting ? "" : kind == .insertion ? " insertion" : kind == .removal ? " removal" : " replacement"
    return ([keyPath! + name] + (values.isEmpty ? [] : [values.joined(separator: ">")])).joined(separator: " ")
  }

  /// Corrects a value that is too large.
  @KeyValueObservable
  final class Bounded {
    let most: Int
    var value = 0 { didSet { if value > most { value = most } } }

    init(most: Int) { self.most = most }
  }
#endif
