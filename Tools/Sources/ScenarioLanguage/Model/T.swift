// The model class of the scenarios, which uses the public API as a program would.
import Foundation
import KeyValueObserving

/// Properties of every kind. As with Objective-C's `id`, an "object" may be any value.
@KeyValueObservable
class T: Named {
  // Scalars.
  var v = 0
  var d = 0.0
  var flag = false
  var r = NSRange(location: 0, length: 0)

  // Objects.
  var s: Any?
  var child: Any?
  var a: Any?
  var b: Any?

  /// Not observed; key-value coding finds it for the key `hidden`.
  var _hidden: Any?

  /// Announced manually.
  var manual = 0

  // Properties that others depend on.
  var first: String? = ""
  var last: String? = ""
  var cyc1: Any?
  var cyc2: Any?
  var usea = false

  // To-many. `list` has all accessors of T+OrderedAccessors.swift, `min` those that insert and remove, the others few or
  // none.
  var list: [Any] = []
  var min: [Any] = []
  var slow: [Any] = []
  var ivars: [Any] = []
  var bag: Set<AnyHashable> = []
  var slowbag: Set<AnyHashable> = []
  var ivarbag: Set<AnyHashable> = []
  var ord = NSOrderedSet()

  /// The getter name for the key `flag`.
  var isFlag: Bool { flag }

  // Dependent properties.
  var full: String { "\(first ?? "") \(last ?? "")" }
  var twice: String { "\(full)/\(full)" }
  var deep: Int { childNumber &* 10 }
  var pair: String { "\(childNumber)-\(childText)" }
  var pick: Any? { usea ? a : b }
  var total: Int { list.count }

  private var childNumber: Int { (child as? T)?.v ?? 0 }
  /// A nil is formatted as in Objective-C.
  private var childText: String {
    switch (child as? T)?.s {
    case nil: "(null)"
    case let text as String: text
    case let other: describe(other)
    }
  }

  deinit { transcript.line("D @\(scenarioName)") }

  func letGo() {
    (_s, _child, _a, _b, __hidden, _cyc1, _cyc2) = (nil, nil, nil, nil, nil, nil, nil)
    (_list, _min, _slow, _ivars) = ([], [], [], [])
    (_bag, _slowbag, _ivarbag, _ord) = ([], [], [], NSOrderedSet())
  }

  nonisolated class func automaticallyNotifiesObservers(forKey key: String) -> Bool { key != "manual" }

  nonisolated class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    switch key {
    case "full": ["first", "last"]
    case "twice": ["full"]
    case "deep": ["child.v"]
    case "pair": ["child.v", "child.s"]
    case "cyc1": ["cyc2"]
    case "cyc2": ["cyc1"]
    case "pick": ["usea", "a", "b"]
    case "total": ["list"]
    default: []
    }
  }

  /// Changes the manually announced key and announces it.
  func bumpManual() {
    willChangeValue(forKey: "manual")
    manual &+= 1  // the value may be Int.max
    didChangeValue(forKey: "manual")
  }

  /// Changes two properties within nested announcements.
  func setBoth(_ value: Int) {
    willChangeValue(forKey: "v")
    willChangeValue(forKey: "s")
    _v = value
    _s = String(value)
    didChangeValue(forKey: "v")
    didChangeValue(forKey: "s")
  }

  /// Sets a property through its setter or, if `quietly`, its storage, which the macro names `_v` for `v`.
  fileprivate func assign(_ key: String, _ value: Any?, quietly: Bool) throws {
    func put<Value>(
      _ property: ReferenceWritableKeyPath<T, Value>, _ storage: ReferenceWritableKeyPath<T, Value>,
      _ convert: (Any?, String) throws -> Value
    ) rethrows {
      self[keyPath: quietly ? storage : property] = try convert(value, key)
    }
    switch key {
    case "v": try put(\.v, \._v, integer)
    case "d": try put(\.d, \._d, double)
    case "flag": try put(\.flag, \._flag, bool)
    case "r": try put(\.r, \._r, range)
    case "s": put(\.s, \._s) { value, _ in value }
    case "child": put(\.child, \._child) { value, _ in value }
    case "a": put(\.a, \._a) { value, _ in value }
    case "b": put(\.b, \._b) { value, _ in value }
    case "manual": try put(\.manual, \._manual, integer)
    case "first": try put(\.first, \._first, string)
    case "last": try put(\.last, \._last, string)
    case "cyc1": put(\.cyc1, \._cyc1) { value, _ in value }
    case "cyc2": put(\.cyc2, \._cyc2) { value, _ in value }
    case "usea": try put(\.usea, \._usea, bool)
    case "list": try put(\.list, \._list, array)
    case "slow": try put(\.slow, \._slow, array)
    case "bag": try put(\.bag, \._bag, unorderedSet)
    case "slowbag": try put(\.slowbag, \._slowbag, unorderedSet)
    case "ord": try put(\.ord, \._ord, orderedSet)
    case "hidden" where quietly, "_hidden" where quietly: __hidden = value
    case "min" where quietly: _min = try array(value, key)
    case "ivars" where quietly: _ivars = try array(value, key)
    case "ivarbag" where quietly: _ivarbag = try unorderedSet(value, key)
    case "hidden", "_hidden", "min", "ivars", "ivarbag": throw ScriptError("\(key) has no setter; use kvc or raw")
    case "full", "twice", "deep", "pair", "pick", "total":
      throw ScriptError("\(key) has no setter\(quietly ? " and no storage" : ""): it depends on other keys")
    default: throw ScriptError("\(Self.kind) has no \(quietly ? "storage" : "setter") for \(quoted(key))")
    }
  }

  class var kind: String { "T" }
}

extension T: ScenarioObject {
  func set(_ key: String, to value: Any?) throws { try assign(key, value, quietly: false) }
  func setRaw(_ key: String, to value: Any?) throws { try assign(key, value, quietly: true) }
}

extension T: Hashable {
  static func == (left: T, right: T) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A subclass in which no key notifies automatically.
final class Man: T {
  override class func automaticallyNotifiesObservers(forKey key: String) -> Bool { false }
  override class var kind: String { "Man" }
}

/// A subclass that overrides a setter and calls super.
final class Sub: T {
  override var v: Int {
    get { super.v }
    set { super.v = newValue }
  }
  override class var kind: String { "Sub" }
}
