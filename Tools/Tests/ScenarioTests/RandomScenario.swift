// Creates random scenarios from a seed, with the expected answers from a shadow model of values and registrations.
import Foundation

/// The SplitMix64 generator: the same numbers for the same seed on every machine.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func pick<Element>(_ elements: [Element]) -> Element { elements.randomElement(using: &self)! }
  mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
}

/// A random scenario with the expected answer of each line.
struct RandomScenario {
  private(set) var lines: [String] = []
  private(set) var expected: [String] = []
  private var random: SeededGenerator
  private var objects: [String: Shadow] = [:]
  private var registrations: [Registered] = []
  private var nextElement = 0

  /// The expected state of an object.
  private struct Shadow {
    var v = 0
    var s: String?
    var list: [Int] = []
    var slow: [Int] = []
    var bag: Set<Int> = []
  }

  private struct Registered: Equatable {
    let object: String
    let watcher: String
    let key: String
    let context: Int
    let options: Set<String>
  }

  init(seed: UInt64, length: Int) {
    random = SeededGenerator(seed: seed)
    for name in ["x", "y"] {
      tell("new \(name) T")
      objects[name] = Shadow()
    }
    for _ in 0..<length { step() }
    finish()
  }

  private mutating func tell(_ line: String) {
    lines.append(line)
    expected.append("> \(line)")
  }

  private mutating func step() {
    let object = random.pick(["x", "y"])
    switch random.below(20) {
    case 0..<3: add(object)
    case 3..<5: remove()
    case 5: removeUnregistered(object)
    case 6..<9: setScalar(object)
    case 9: setText(object)
    case 10: announce(object)
    case 11..<16: mutateArray(object, key: random.pick(["list", "slow"]))
    case 16..<19: mutateSet(object)
    default: read(object, random.pick(["v", "s", "list", "slow", "bag", "total"]))
    }
  }

  /// Checks that all values agree with the shadow model, and that nothing is delivered after the last removal.
  private mutating func finish() {
    for name in objects.keys.sorted() {
      for key in ["v", "s", "list", "slow", "bag"] { read(name, key) }
    }
    while !registrations.isEmpty { remove() }
    for name in objects.keys.sorted() {
      tell("info \(name)")
      expected.append("V noinfo")
      tell("set \(name) v 1")
      tell("isa \(name)")
      expected.append("V T plain")
    }
  }

  // MARK: - Registrations

  private mutating func add(_ object: String) {
    var options: Set<String> = []
    for option in ["new", "old", "initial", "prior"] where random.below(3) > 0 { options.insert(option) }
    if options.contains("initial"), random.below(2) == 0 { options.remove("initial") }
    let made = Registered(
      object: object, watcher: random.pick(["w1", "w2", "w3"]), key: random.pick(["v", "s", "list", "slow", "bag"]),
      context: random.below(3), options: options)
    let names = options.isEmpty ? "none" : options.sorted().joined(separator: ",")
    tell("add \(object) \(made.watcher) \(made.key) \(names) ctx=\(made.context)")
    registrations.append(made)
    if options.contains("initial") {
      notify(made, old: nil, new: value(object, made.key), isPrior: false)
    }
  }

  private mutating func remove() {
    guard let gone = registrations.randomElement(using: &random) else { return }
    let withContext = random.below(2) == 0
    tell("rem \(gone.object) \(gone.watcher) \(gone.key)" + (withContext ? " ctx=\(gone.context)" : ""))
    let index = registrations.lastIndex {
      $0.object == gone.object && $0.watcher == gone.watcher && $0.key == gone.key
        && (!withContext || $0.context == gone.context)
    }
    registrations.remove(at: index!)
  }

  private mutating func removeUnregistered(_ object: String) {
    tell("rem \(object) w9 v")
    expected.append(
      "X NSRangeException Cannot remove an observer <Watcher 0xPTR> for the key path \"v\" from <T 0xPTR> because it "
        + "is not registered as an observer.")
  }

  // MARK: - Changes

  private mutating func setScalar(_ object: String) {
    let value = random.below(100)
    tell("\(random.pick(["set", "kvc"])) \(object) v \(value)")
    change(object, "v") { $0.v = value }
  }

  private mutating func setText(_ object: String) {
    let text = random.pick([nil, "a", "b"])
    tell("set \(object) s \(text.map { "\"\($0)\"" } ?? "nil")")
    change(object, "s") { $0.s = text }
  }

  private mutating func announce(_ object: String) {
    let value = random.below(100)
    // Prior observers are notified at will.
    tell("will \(object) v")
    let interested = registrations.filter { $0.object == object && $0.key == "v" }
    let old = self.value(object, "v")
    for one in interested where one.options.contains("prior") { notify(one, old: old, new: nil, isPrior: true) }
    tell("raw \(object) v \(value)")
    objects[object]?.v = value
    tell("did \(object) v")
    for one in interested.reversed() { notify(one, old: old, new: self.value(object, "v"), isPrior: false) }
  }

  private mutating func mutateArray(_ object: String, key: String) {
    let path = key == "list" ? \Shadow.list : \Shadow.slow
    let elements = objects[object]![keyPath: path]
    nextElement += 1
    let new = nextElement
    let verb = key == "list" ? random.pick(["arr", "acc"]) : "arr"
    func positions(_ indexes: [Int]) -> String { indexes.map(String.init).joined(separator: ",") }
    switch random.below(elements.isEmpty ? 2 : 6) {
    case 0:
      let index = random.below(elements.count + 1)
      tell("\(verb) \(object) \(key) insert \(index) \(new)")
      change(object, key, kind: 2, [index], old: nil, new: "[\(new)]") { $0[keyPath: path].insert(new, at: index) }
    case 1:
      tell("\(verb) \(object) \(key) insertmany 0,\(elements.count + 1) [\(new) -\(new)]")
      change(object, key, kind: 2, [0, elements.count + 1], old: nil, new: "[\(new) \(-new)]") {
        $0[keyPath: path] = [new] + elements + [-new]
      }
    case 2, 3:
      let index = random.below(elements.count)
      tell("\(verb) \(object) \(key) remove \(index)")
      change(object, key, kind: 3, [index], old: "[\(elements[index])]", new: nil) {
        $0[keyPath: path].remove(at: index)
      }
    case 4:
      let index = random.below(elements.count)
      tell("\(verb) \(object) \(key) replace \(index) \(new)")
      change(object, key, kind: 4, [index], old: "[\(elements[index])]", new: "[\(new)]") {
        $0[keyPath: path][index] = new
      }
    default:
      let indexes = elements.indices.filter { _ in random.below(2) == 0 }
      guard !indexes.isEmpty else { return }
      tell("\(verb) \(object) \(key) removemany \(positions(indexes))")
      let gone = indexes.map { String(elements[$0]) }.joined(separator: " ")
      change(object, key, kind: 3, indexes, old: "[\(gone)]", new: nil) { shadow in
        for index in indexes.reversed() { shadow[keyPath: path].remove(at: index) }
      }
    }
  }

  private mutating func mutateSet(_ object: String) {
    let bag = objects[object]!.bag
    let operand = Set((0..<random.below(4)).map { _ in random.below(6) })
    let (verb, operation) = random.pick([
      ("sets", "union"), ("sets", "minus"), ("sets", "intersect"), ("sets", "set"), ("acc", "union"),
      ("acc", "minus"),
      ("acc", "intersect"), ("set", "set"),
    ])
    if verb == "set" {
      tell("set \(object) bag \(text(operand))")
      return change(object, "bag") { $0.bag = operand }
    }
    tell("\(verb) \(object) bag \(operation) \(text(operand))")
    switch operation {
    case "union":
      change(object, "bag", kind: 2, nil, old: nil, new: text(operand.subtracting(bag))) { $0.bag.formUnion(operand) }
    case "minus":
      change(object, "bag", kind: 3, nil, old: text(operand.intersection(bag)), new: nil) { $0.bag.subtract(operand) }
    case "intersect":
      change(object, "bag", kind: 3, nil, old: text(bag.subtracting(operand)), new: nil) {
        $0.bag.formIntersection(operand)
      }
    default:
      change(
        object, "bag", kind: 4, nil, old: text(bag.subtracting(operand)), new: text(operand.subtracting(bag))
      ) { $0.bag = operand }
    }
  }

  // MARK: - Expected output

  private mutating func read(_ object: String, _ key: String) {
    tell("get \(object) \(key)")
    let text = value(object, key)
    expected.append("V \(text == "null" ? "nil" : text)")
  }

  private func value(_ object: String, _ key: String) -> String {
    let shadow = objects[object]!
    func list(_ elements: [Int]) -> String { "[" + elements.map(String.init).joined(separator: " ") + "]" }
    return switch key {
    case "v": String(shadow.v)
    case "s": shadow.s.map { "\"\($0)\"" } ?? "null"
    case "list": list(shadow.list)
    case "slow": list(shadow.slow)
    case "total": String(shadow.list.count)
    default: text(shadow.bag)
    }
  }

  private func text(_ set: Set<Int>) -> String { "{" + set.map(String.init).sorted().joined(separator: " ") + "}" }

  /// Records a setting, in which both values are the whole ones.
  private mutating func change(_ object: String, _ key: String, _ body: (inout Shadow) -> Void) {
    let old = value(object, key)
    var after = objects[object]!
    body(&after)
    let before = objects[object]!
    objects[object] = after
    let new = value(object, key)
    objects[object] = before
    change(object, key, kind: 1, nil, old: old, new: new, body)
  }

  private mutating func change(
    _ object: String, _ key: String, kind: Int, _ indexes: [Int]?, old: String?, new: String?,
    _ body: (inout Shadow) -> Void
  ) {
    let interested = registrations.filter { $0.object == object && $0.key == key }
    for one in interested where one.options.contains("prior") {
      notify(one, kind: kind, indexes, old: old, new: nil, isPrior: true)
    }
    body(&objects[object]!)
    for one in interested.reversed() { notify(one, kind: kind, indexes, old: old, new: new, isPrior: false) }
  }

  private mutating func notify(
    _ one: Registered, kind: Int = 1, _ indexes: [Int]? = nil, old: String?, new: String?, isPrior: Bool
  ) {
    let oldText = one.options.contains("old") ? old ?? "-" : "-"
    let newText = one.options.contains("new") ? new ?? "-" : "-"
    let positions = indexes.map { $0.map(String.init).joined(separator: ",") } ?? "-"
    expected.append(
      "N obs=\(one.watcher) ctx=\(one.context) path=\(one.key) obj=@\(one.object) kind=\(kind) old=\(oldText) "
        + "new=\(newText) idx=\(positions) prior=\(isPrior ? 1 : 0)")
  }
}
