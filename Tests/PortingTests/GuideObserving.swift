// The code of Documentation/Porting.md: observing. What stands between `guide:` and `guide end` is in the guide, word for word.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  // guide: model
  @KeyValueObservable
  class Document {
    var title = ""
    var author: Author?
    weak var reviewer: Author?
    @NotObserved var cache = 0
  }

  @KeyValueObservable
  class Author {
    var name = ""
  }
  // guide end

  // guide: observer
  nonisolated(unsafe) private let titleContext =
    UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)

  class TitleController: KeyValueObject {
    let document: Document
    var shown = ""

    init(document: Document) {
      self.document = document
      super.init()
      document.addObserver(
        self, forKeyPath: "title",
        options: [.new], context: titleContext)
    }

    deinit {
      document.removeObserver(
        self, forKeyPath: "title",
        context: titleContext)
    }

    override func observeValue(
      forKeyPath keyPath: String?,
      of object: Any?,
      change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      guard context == titleContext else {
        super.observeValue(
          forKeyPath: keyPath, of: object,
          change: change, context: context)
        return
      }
      shown = change?[.newKey] as? String ?? ""
    }
  }
  // guide end

  // guide: observer without base class
  final class Counter: KeyValueObserver {
    var count = 0

    func observeValue(
      forKeyPath keyPath: String?,
      of object: Any?,
      change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      count += 1
    }
  }
  // guide end

  // guide: change dictionary
  func describe(_ change: [NSKeyValueChangeKey: Any]) -> String {
    let kind = (change[.kindKey] as? UInt)
      .flatMap(NSKeyValueChange.init(rawValue:))
    guard kind == .setting else { return "elements" }
    if change[.notificationIsPriorKey] as? Bool == true {
      return "will change"
    }
    if change[.newKey] is NSNull { return "is nil" }
    let old = change[.oldKey] as? String ?? "-"
    let new = change[.newKey] as? String ?? "-"
    return "\(old) -> \(new)"
  }
  // guide end

  nonisolated(unsafe) private var plainContext = 0

  /// Uses the address of a variable as the context, as the original does.
  private final class AddressContext: KeyValueObserver {
    var isMine = false
    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) { isMine = context == &plainContext }
  }

  /// Not annotated: what it adds notifies nobody.
  private final class Draft: Document {
    var version = 0
  }

  /// Describes what it is told.
  private final class Describing: KeyValueObserver {
    var lines: [String] = []
    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) { lines.append(describe(change ?? [:])) }
  }

  // guide: token
  final class TitleLabel: @unchecked Sendable {
    var text = ""
    private var observation: NSKeyValueObservation?

    func show(_ document: Document) {
      observation = document.observe(
        \.title, options: [.initial, .new]
      ) { [weak self] _, change in
        self?.text = change.newValue ?? ""
      }
    }
  }
  // guide end

  // guide: main actor
  @MainActor
  @KeyValueObservable
  final class Settings {
    var volume = 3
    var isMuted: Bool { volume == 0 }

    nonisolated class func keyPathsForValuesAffectingValue(
      forKey key: String
    ) -> Set<String> {
      key == "isMuted" ? ["volume"] : []
    }
  }

  @MainActor
  final class VolumeSlider {
    var position = 0
    private var observation: NSKeyValueObservation?

    init(_ settings: Settings) {
      observation = settings.observe(
        \.volume, options: [.initial, .new]
      ) { [weak self] _, change in
        let volume = change.newValue ?? 0
        // The closure runs where the change is made.
        MainActor.assumeIsolated { self?.position = volume }
      }
    }
  }
  // guide end

  // guide: main actor observer
  @MainActor
  final class VolumeWindow: KeyValueObserver {
    var title = ""

    nonisolated func observeValue(
      forKeyPath keyPath: String?,
      of object: Any?,
      change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      let volume = change?[.newKey] as? Int ?? 0
      MainActor.assumeIsolated {
        title = "Volume \(volume)"
      }
    }
  }
  // guide end

  // guide: publisher
  extension KeyValueObservable {
    func values<Value: Sendable>(
      for keyPath: KeyPath<Self, Value>
    ) -> AsyncStream<Value> {
      AsyncStream { continuation in
        let token = observe(
          keyPath, options: [.initial, .new]
        ) { _, change in
          if let value = change.newValue {
            continuation.yield(value)
          }
        }
        continuation.onTermination = { _ in
          token.invalidate()
        }
      }
    }
  }
  // guide end

  @Suite("The porting guide: observing")
  struct GuideObservingTests {
    let document = Document()

    @Test func `The controller hears of its document, and stops when it dies`() {
      do {
        let controller = TitleController(document: document)
        document.title = "A"
        #expect(controller.shown == "A")
      }
      #expect(document.observationInfo == nil)
    }

    @Test func `An observer may be any class`() {
      let counter = Counter()
      // guide: add and remove
      document.addObserver(counter, forKeyPath: "author.name")
      document.author = Author()
      document.author?.name = "Jane"
      document.removeObserver(counter, forKeyPath: "author.name")
      // guide end
      #expect(counter.count == 2)
    }

    @Test func `The dictionary is read with Swift's types`() {
      let describing = Describing()
      document.addObserver(describing, forKeyPath: "title", options: [.old, .new, .prior])
      document.title = "A"
      document.removeObserver(describing, forKeyPath: "title")
      document.addObserver(describing, forKeyPath: "author", options: [.new])
      document.author = nil
      document.removeObserver(describing, forKeyPath: "author")
      #expect(describing.lines == ["will change", " -> A", "is nil"])
    }

    @Test func `The address of a global variable does as a context`() {
      let observer = AddressContext()
      document.addObserver(observer, forKeyPath: "title", context: &plainContext)
      document.title = "A"
      document.removeObserver(observer, forKeyPath: "title", context: &plainContext)
      #expect(observer.isMine)
    }

    @Test func `Numbers in the dictionary are of the property's type, and NSNumber for those who ask`() {
      let values: [Any] = [1 as UInt, 1.5, true]
      #expect(values.allSatisfy { $0 is NSNumber })
      #expect(values[0] as? Int == nil && values[1] as? Int == nil && values[1] as? Double == 1.5)
    }

    @Test func `A property that a subclass adds without the macro is told to be silent`() {
      var codes: [Int] = []
      KeyValueFault.withHandler {
        codes.append($0.code)
        return .ignore
      } in: {
        Draft().observe(\.version) { _, _ in }.invalidate()
      }
      #expect(codes == [11])
    }

    @Test func `A label with a token follows the document it shows last`() {
      let label = TitleLabel()
      let other = Document()
      label.show(document)
      document.title = "A"
      #expect(label.text == "A")
      label.show(other)
      document.title = "B"
      #expect(label.text == "" && document.observationInfo == nil)
    }

    @Test func `A weak property that loses its object tells nil`() {
      nonisolated(unsafe) var names: [String] = []
      // guide: weak
      var reviewer: Author? = Author()
      document.reviewer = reviewer
      let token = document.observe(
        \.reviewer?.name, options: [.new]
      ) { _, change in
        names.append((change.newValue ?? nil) ?? "nobody")
      }
      reviewer?.name = "Eve"
      reviewer = nil  // the object dies: told as nil
      // guide end
      #expect(names == ["Eve", "nobody"])
      token.invalidate()
    }

    @Test @MainActor func `A main-actor model and view work`() {
      let settings = Settings()
      let slider = VolumeSlider(settings)
      settings.volume = 7
      #expect(slider.position == 7)
      let window = VolumeWindow()
      settings.addObserver(window, forKeyPath: "volume", options: [.new])
      settings.volume = 8
      #expect(window.title == "Volume 8")
      settings.removeObserver(window, forKeyPath: "volume")
      nonisolated(unsafe) var muted: [Bool] = []
      let token = settings.observe(\.isMuted, options: [.new]) { _, change in muted.append(change.newValue!) }
      settings.volume = 0
      #expect(muted == [true])
      token.invalidate()
    }

    @Test func `A stream of values stands in for a publisher`() async {
      nonisolated(unsafe) let document = document
      // guide: publisher used
      let titles = document.values(for: \.title)
      document.title = "A"
      document.title = "B"
      var seen: [String] = []
      for await title in titles {
        seen.append(title)
        if title == "B" { break }
      }
      // guide end
      #expect(seen == ["", "A", "B"])
    }
  }
#endif
