// The classes that the tests of KeyValueObservingTesting observe.
#if Macros
  import KeyValueObserving

  @KeyValueObservable
  final class Author {
    var name: String

    init(_ name: String) { self.name = name }
  }

  @KeyValueObservable
  final class Document {
    var title = ""
    var pages = 0
    var tags: [String] = []
    var author: Author?
    var summary: String { "\(title) (\(pages))" }
  }

  /// A class that several threads use, one at a time.
  @KeyValueObservable
  final class SharedDocument: @unchecked Sendable {
    var title = ""
    var pages = 0
  }

  final class Panel: KeyValueObserver {
    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {}
  }
#endif
