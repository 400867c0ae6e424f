// willSet and didSet: each class exists in a plain and an observable version, and both have to behave identically.
#if Macros
  import KeyValueObserving
  import Testing

  /// The log of the bodies below.
  private nonisolated(unsafe) var log: [String] = []

  private protocol Watching: AnyObject {
    init()
    var volume: Int { get set }
    var named: Int { get set }
    var early: Int { get set }
    var width: Int { get set }
    var height: Int { get set }
    var inClosure: Int { get set }
    var inFunction: Int { get set }
    var list: [Int] { get set }
    var shadow: Int? { get set }
    var other: Int { get set }
    var oldValue: Int { get set }
    var newValue: Int { get set }
    var itself: Int? { get set }
    var keyword: Int { get set }
    var initialValue: Int { get set }
    var inWillSet: Int { get set }
    var unwrapped: Int! { get set }
    var text: String { get set }
  }

  private final class Plain: Watching {
    var volume = 0 {
      didSet {
        log.append("volume \(volume)")
        if volume > 10 { volume = 10 }
        if self.volume < 0 { self.volume = 0 }
      }
    }
    var named = 0 {
      willSet(next) { log.append("will \(named) \(next)") }
      didSet(last) { log.append("did \(last) \(named)") }
    }
    var early = 0 {
      willSet {
        if newValue == 1 { return }
        log.append("will \(newValue)")
      }
      didSet {
        guard oldValue != early else { return }
        log.append("did \(oldValue)")
      }
    }
    var width = 0 { didSet { if height != width { height = width } } }
    var height = 0 {
      didSet {
        log.append("height")
        width = height
      }
    }
    var inClosure = 0 {
      didSet {
        log.append("closure \(inClosure)")
        let clamp = { if self.inClosure > 5 { self.inClosure = 5 } }
        clamp()
      }
    }
    var inFunction = 0 {
      didSet {
        log.append("function \(inFunction)")
        func clamp() { if inFunction > 5 { inFunction = 5 } }
        clamp()
      }
    }
    var list: [Int] = [] {
      didSet {
        log.append("list \(list.count)")
        list.append(0)
        list[0] += 1
      }
    }
    var shadow: Int? {
      didSet {
        log.append("shadow")
        if let shadow { log.append("is \(shadow)") } else { shadow = 7 }
        guard let shadow = self.shadow else { return }
        log.append("now \(shadow)")
      }
    }
    /// A label, a member of something else, and a key path that share the property's name.
    var other = 0 {
      didSet {
        let second = Second()
        log.append("\(second.other(other: other)) \(second[keyPath: \Second.other]) \(second.other)")
      }
    }
    /// Properties whose names are those of the parameters: there the parameter is meant.
    var oldValue = 0 {
      willSet { log.append("will \(oldValue) \(newValue)") }
      didSet {
        log.append("did \(oldValue) \(self.oldValue)")
        if self.oldValue > 5 { self.oldValue = oldValue }
      }
    }
    var newValue = 0 {
      willSet { log.append("will \(newValue) \(self.newValue)") }
      didSet {
        log.append("did \(oldValue) \(newValue)")
        if newValue > 5 { newValue = 5 }
      }
    }
    var itself: Int? {
      willSet(itself) { log.append("will \(itself as Any)") }
      didSet(itself) {
        if let itself { log.append("was \(itself)") }
        log.append("did \([1].map { [itself] in $0 + (itself ?? 0) })")
      }
    }
    var keyword = 0 {
      willSet(`default`) { log.append("will \(`default`)") }
      didSet(`class`) { log.append("did \(`class`)") }
    }
    var initialValue = 0
    var inWillSet = 0 { willSet { log.append("\(inWillSet) \(newValue)") } }
    var unwrapped: Int! = 1 { didSet { log.append("\(oldValue + 1)") } }
    var text = "" {
      willSet(unused) { log.append("text") }
      didSet {
        log.append(
          """
          \(text)

            \(oldValue) # " \\
          """)
        // A comment at the end.
      }
    }
  }

  @KeyValueObservable
  private final class Observable: Watching {
    var volume = 0 {
      didSet {
        log.append("volume \(volume)")
        if volume > 10 { volume = 10 }
        if self.volume < 0 { self.volume = 0 }
      }
    }
    var named = 0 {
      willSet(next) { log.append("will \(named) \(next)") }
      didSet(last) { log.append("did \(last) \(named)") }
    }
    var early = 0 {
      willSet {
        if newValue == 1 { return }
        log.append("will \(newValue)")
      }
      didSet {
        guard oldValue != early else { return }
        log.append("did \(oldValue)")
      }
    }
    var width = 0 { didSet { if height != width { height = width } } }
    var height = 0 {
      didSet {
        log.append("height")
        width = height
      }
    }
    var inClosure = 0 {
      didSet {
        log.append("closure \(inClosure)")
        let clamp = { if self.inClosure > 5 { self.inClosure = 5 } }
        clamp()
      }
    }
    var inFunction = 0 {
      didSet {
        log.append("function \(inFunction)")
        func clamp() { if inFunction > 5 { inFunction = 5 } }
        clamp()
      }
    }
    var list: [Int] = [] {
      didSet {
        log.append("list \(list.count)")
        list.append(0)
        list[0] += 1
      }
    }
    var shadow: Int? {
      didSet {
        log.append("shadow")
        if let shadow { log.append("is \(shadow)") } else { shadow = 7 }
        guard let shadow = self.shadow else { return }
        log.append("now \(shadow)")
      }
    }
    /// A label, a member of something else, and a key path that share the property's name.
    var other = 0 {
      didSet {
        let second = Second()
        log.append("\(second.other(other: other)) \(second[keyPath: \Second.other]) \(second.other)")
      }
    }
    /// Properties whose names are those of the parameters: there the parameter is meant.
    var oldValue = 0 {
      willSet { log.append("will \(oldValue) \(newValue)") }
      didSet {
        log.append("did \(oldValue) \(self.oldValue)")
        if self.oldValue > 5 { self.oldValue = oldValue }
      }
    }
    var newValue = 0 {
      willSet { log.append("will \(newValue) \(self.newValue)") }
      didSet {
        log.append("did \(oldValue) \(newValue)")
        if newValue > 5 { newValue = 5 }
      }
    }
    var itself: Int? {
      willSet(itself) { log.append("will \(itself as Any)") }
      didSet(itself) {
        if let itself { log.append("was \(itself)") }
        log.append("did \([1].map { [itself] in $0 + (itself ?? 0) })")
      }
    }
    var keyword = 0 {
      willSet(`default`) { log.append("will \(`default`)") }
      didSet(`class`) { log.append("did \(`class`)") }
    }
    var initialValue = 0
    var inWillSet = 0 { willSet { log.append("\(inWillSet) \(newValue)") } }
    var unwrapped: Int! = 1 { didSet { log.append("\(oldValue + 1)") } }
    var text = "" {
      willSet(unused) { log.append("text") }
      didSet {
        log.append(
          """
          \(text)

            \(oldValue) # " \\
          """)
        // A comment at the end.
      }
    }
  }

  private struct Second {
    var other = 42
    func other(other: Int) -> Int { other + 1000 }
  }

  private func script(_ object: some Watching) -> [String] {
    log = []
    object.volume = 20
    object.volume -= 30
    object.named = 3
    object.named += 1
    object.early = 1
    object.early = 1
    object.early = 2
    object.width = 5
    object.height = 6
    object.inClosure = 9
    object.inFunction = 9
    object.list = [1]
    object.list.append(2)
    object.shadow = 1
    object.shadow = nil
    object.other = 1
    object.oldValue = 4
    object.oldValue = 9
    object.newValue = 4
    object.newValue += 9
    object.itself = 1
    object.itself = 2
    object.keyword = 3
    object.initialValue += 1
    object.inWillSet = 2
    object.unwrapped = 4
    object.text = "x"
    log.append("\(object.oldValue) \(object.newValue) \(object.itself as Any) \(object.initialValue)")
    log.append("\(object.volume) \(object.list) \(object.shadow as Any) \(object.width) \(object.inClosure)")
    return log
  }

  @KeyValueObservable
  private final class Attached {
    weak var delegate: Author? { didSet { log.append("\(oldValue == nil) \(delegate == nil)") } }
    unowned var owner: Author { willSet { log.append("owner \(newValue.name)") } }
    init(_ owner: Author) { self.owner = owner }
  }

  @MainActor @KeyValueObservable
  private final class OnMainActor {
    var value = 0 {
      didSet {
        if value > 3 { value = 3 }
        changed()
      }
    }
    @NotObserved var count = 0
    func changed() { count += 1 }
  }

  @Suite(.serialized) struct `willSet and didSet` {
    @Test func `willSet and didSet of an unobserved object run as in plain Swift`() {
      #expect(script(Observable()) == script(Plain()))
    }

    @Test func `willSet and didSet of an observed object run as in plain Swift`() {
      let object = Observable()
      var observed: [String] = []
      _ = changes(of: object, \.volume) { observed = script(object) }
      #expect(observed == script(Plain()))
    }

    @Test func `Observers receive a clamped value once, and never the value before clamping`() {
      let object = Observable()
      #expect(changes(of: object, \.volume) { object.volume = 20 } == ["0 -> 10"])
    }

    @Test func `Two properties that set each other notify each time`() {
      let object = Observable()
      #expect(changes(of: object, \.width) { object.width = 5 } == ["5 -> 5", "0 -> 5"])
    }

    @Test func `willSet and didSet work on weak and unowned properties`() {
      let (one, two) = (Author(), Author())
      two.name = "two"
      let object = Attached(one)
      log = []
      object.delegate = one
      _ = changes(of: object, \.owner) { object.owner = two }
      #expect(log == ["true false", "owner two"])
    }

    @Test @MainActor func `willSet and didSet work on the main actor`() {
      let object = OnMainActor()
      #expect(changes(of: object, \.value) { object.value = 9 } == ["0 -> 3"])
      #expect(object.count == 1)
    }
  }
#endif
