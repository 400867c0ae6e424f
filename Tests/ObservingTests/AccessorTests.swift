// What accessors do in a change: which values they read and store, and that paths which are led to the object meanwhile follow it.
#if Macros
  import KeyValueObserving
  import Testing

  /// Counts how often a change calls the getter.
  private final class Meter: KeyValueObservable {
    let _$kvo = KeyValueObservationHeader()
    var __keyValueObject: KeyValueObjectReference { _$kvo.reference }
    private static let levelKey = KeyValueObservationHeader.key("level")

    @exclusivity(unchecked) private var stored = 0
    var reads = 0

    var level: Int {
      get { _$kvo.isTracking ? _$kvo.tracked(self, Self.levelKey, { self.stored }) : stored }
      set { _$kvo.set(Self.levelKey, { self.read() }, { self.stored = newValue }) }
      _modify {
        let change = _$kvo.beginChange(Self.levelKey, { self.read() })
        defer { change.finish({ self.read() }) }
        yield &stored
      }
    }

    private func read() -> Int {
      reads += 1
      return stored
    }

    static func __describeKeyValueProperties(_ description: KeyValueClassDescription) {
      description.observed("level", levelKey, \Meter.level)
    }
  }

  /// Calls a closure before its second property is set.
  @KeyValueObservable
  private final class Stand {
    var title = ""
    @NotObserved var beforeSet: () -> Void = {}
    var shown: Person { willSet { beforeSet() } }
    init(_ shown: Person) { self.shown = shown }
  }

  /// Is put onto an observed path in the middle of its own change.
  @KeyValueObservable
  private final class Tab {
    @NotObserved var text = "old"
    @NotObserved weak var window: Window?
    /// Announced by hand.
    var label: String {
      get { text }
      set {
        willChangeValue(for: \.label)
        window?.selected = self
        text = newValue
        didChangeValue(for: \.label)
      }
    }
    var title = "old" { willSet { window?.selected = self } }
  }

  @KeyValueObservable
  private final class Window {
    var selected: Tab?
  }

  @Suite("Accessors in a change")
  struct AccessorTests {
    private let log = Log()

    @Test(arguments: [([], 0), ([.old], 1), ([.new], 1), ([.old, .new], 2)] as [(NSKeyValueObservingOptions, Int)])
    func `A change calls the getter only for values that an observer wants`(
      options: NSKeyValueObservingOptions, reads: Int
    ) {
      let meter = Meter()
      let token = meter.observe(\.level, options: options) { _, _ in }
      let before = meter.reads
      meter.level = 1
      let between = meter.reads
      meter.level += 1
      #expect(between - before == reads && meter.reads - between == reads)
      token.invalidate()
    }

    @Test func `While another key of the object is observed, every kind of value is stored, and nobody is notified`() {
      let (document, person) = (Document(), Person(name: "Ann"))
      let tokens = [document.log(\.author, to: log), person.log(\.name, to: log)]
      document.title = "a"
      document.title += "b"
      document.isFavorite = true
      document.pages = [1]
      document.pages.append(2)
      document.reviewer = person
      person.age = 7
      #expect("\(document.title) \(document.isFavorite) \(document.pages) \(person.age)" == "ab true [1, 2] 7")
      #expect(document.reviewer === person && log.lines.isEmpty)
      withExtendedLifetime(tokens) {}
    }

    @Test(arguments: [false, true])
    func `A path that is registered while its first property is being set follows the new object`(isObserved: Bool) {
      let (stand, second) = (Stand(Person(name: "first")), Person(name: "second"))
      let other = isObserved ? stand.log(\.title, to: log) : nil
      var token: NSKeyValueObservation?
      stand.beforeSet = { [log, unowned stand] in
        if token == nil { token = stand.log(\.shown.name, to: log) }
      }
      stand.shown = second
      second.name = "third"
      #expect(log.lines.last == "second>third")
      token?.invalidate()
      other?.invalidate()
      stand.beforeSet = {}
    }

    @Test func `A path that is led to an object in the middle of a change of its end is notified of that change`() {
      let (window, tab) = (Window(), Tab())
      tab.window = window
      let tokens = [
        window.onChange(of: \.selected?.label) { [log] _, label in log.add("label \(label ?? "none")") },
        window.onChange(of: \.selected?.title) { [log] _, title in log.add("title \(title ?? "none")") },
      ]
      tab.label = "new"
      #expect(log.take().last == "label new")
      window.selected = nil
      _ = log.take()
      tab.title = "new"
      #expect(log.take().contains("title new"))
      withExtendedLifetime(tokens) {}
    }
  }
#endif
