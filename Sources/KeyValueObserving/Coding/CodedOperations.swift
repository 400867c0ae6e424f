// The functions with which the C walk along key paths reads, sets and makes Swift values.

import CKVO
import Foundation

/// The table of the functions.
nonisolated(unsafe) let codedOperations: UnsafePointer<kvo_binding_values> = {
  let operations = UnsafeMutablePointer<kvo_binding_values>.allocate(capacity: 1)
  operations.initialize(
    to: kvo_binding_values(
      struct_size: MemoryLayout<kvo_binding_values>.size,
      copy: { $1.copy($0) },
      destroy: { $0.destroy() },
      classify: { $0.classify() },
      value_for_key: { of, key, length, isLast, to, user in
        WalkState.of(user).pointee.read(key, length, of: of, isLast: isLast, to: to)
      },
      set_value_for_key: { of, key, length, value, changed, user in
        WalkState.of(user).pointee.set(value.value, forKey: key, length, of: of, changed: changed)
      },
      count: { of in
        of.pointee.kind == KVO_KIND_DICTIONARY ? of.dictionary.codedCount : of.collection._codedCount
      },
      each: { of, visit, argument, user in visitElements(of: of.collection, WalkState.of(user), visit, argument) },
      number: { value, texts, reader, argument in
        guard value.isPlain else { return }
        withCNumber(value.words(as: Any.self), texts: texts) { reader($0, argument) }
      },
      is_less: { one, other, result in
        guard let left = one.value, let right = other.value, let isLess = isLess(left, right) else { return false }
        result.pointee = isLess
        return true
      },
      integer: { $1.store(Int($0), as: KVO_KIND_VALUE) },
      sum: { $1.store(number(of: $0.pointee), as: KVO_KIND_VALUE) },
      gather: { how, capacity in Unmanaged.passRetained(GatheredValues(how, capacity)).toOpaque() },
      add: { gathered, value in
        let gathered = Unmanaged<GatheredValues>.fromOpaque(gathered)
        return gathered._withUnsafeGuaranteedRef { $0.add(value.value) } ? KVO_OK : KVO_ERROR_TYPE_MISMATCH
      },
      finish: { gathered, to in
        let gathered = Unmanaged<GatheredValues>.fromOpaque(gathered).takeRetainedValue()
        to?.store(collection: gathered.collection)
      },
      refused: { refusal, user in WalkState.of(user).pointee.refuse(refusal.pointee) }))
  return UnsafePointer(operations)
}()

/// What a walk of C needs of the `KeyPathWalk` that has begun it.
struct WalkState {
  let walk: KeyPathWalk
  /// Whether the path contains bytes that stand for others.
  let isEscaped: Bool
  /// Whether the value of the whole path is declared to be that of its last property.
  let declares: Bool
  /// Why the walk has failed.
  var error: KeyPathError?
  /// The names of components that have been read in collections, where each is read again for the next element.
  private var names: [(at: UnsafePointer<CChar>, length: Int, name: String)] = []
  /// How many collections the walk is in.
  fileprivate var depth = 0
  /// The last element that was nil, for the report of an operand that may not be.
  fileprivate var nilElement: Any?

  init(_ walk: KeyPathWalk, isEscaped: Bool, declares: Bool) {
    self.walk = walk
    self.isEscaped = isEscaped
    self.declares = declares
  }

  static func of(_ user: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<WalkState> {
    user!.assumingMemoryBound(to: WalkState.self)
  }

  private mutating func name(_ bytes: UnsafePointer<CChar>, _ length: Int) -> String {
    guard depth > 0 else { return CodedPath.text(bytes, length, isEscaped: isEscaped) }
    for index in names.indices where names[index].at == bytes && names[index].length == length {
      return names[index].name
    }
    let name = CodedPath.text(bytes, length, isEscaped: isEscaped)
    names.append((bytes, length, name))
    return name
  }

  /// Stores the value of a key of an object or a dictionary, or of a field of a structure.
  fileprivate mutating func read(
    _ key: UnsafePointer<CChar>, _ length: Int, of receiver: UnsafePointer<kvo_binding_value>, isLast: Bool,
    to: UnsafeMutablePointer<kvo_binding_value>
  ) -> kvo_status {
    let name = name(key, length)
    if receiver.pointee.kind == KVO_KIND_DICTIONARY {
      guard let value = receiver.dictionary.codedValue(forKey: name) else { return KVO_ERROR_UNDEFINED_KEY }
      to.store(value)
      return KVO_OK
    }
    if receiver.isPlain {
      let found = fields(of: receiver.words(as: Any.self).pointee)?.first { $0.label == name }
      guard let found else { return KVO_ERROR_UNDEFINED_KEY }
      to.store(found.value)
      return KVO_OK
    }
    let object = receiver.object
    do {
      to.store(try walk.value(of: object, forKey: name))
      if isLast, declares { object.declareValue(isOf: name) }
      return KVO_OK
    } catch {
      self.error = error
      return KVO_ERROR_REFUSED
    }
  }

  /// Sets a key of an object or a dictionary, and stores the copy of the dictionary that has changed.
  fileprivate mutating func set(
    _ value: Any?, forKey key: UnsafePointer<CChar>, _ length: Int, of receiver: UnsafePointer<kvo_binding_value>,
    changed: UnsafeMutablePointer<kvo_binding_value>
  ) -> kvo_status {
    let name = name(key, length)
    do {
      if receiver.pointee.kind == KVO_KIND_DICTIONARY {
        changed.store(try receiver.dictionary.codedSetting(value, forKey: name))
      } else {
        try walk.set(value, of: receiver.object, forKey: name)
      }
      return KVO_OK
    } catch {
      self.error = error
      return KVO_ERROR_REFUSED
    }
  }

  /// Notes why the walk is going to fail.
  fileprivate mutating func refuse(_ refusal: kvo_binding_refusal) {
    let name = CodedPath.text(refusal.name, refusal.length, isEscaped: isEscaped)
    guard let receiver = refusal.of.value else { return }
    func badOperand(_ need: String) -> KeyPathError {
      let operand = refusal.operand.flatMap { $0.value } ?? nilElement ?? NSNull()
      return .badOperand(of: receiver, name: name, operand: operand, need: need)
    }
    // Collections and dictionaries refuse only operators, which C names without the "@".
    let kind = refusal.of.pointee.kind
    let isOperator = kind == KVO_KIND_LIST || kind == KVO_KIND_SET || kind == KVO_KIND_DICTIONARY
    error =
      switch refusal.reason {
      case KVO_REFUSED_KEY: .undefinedKey(of: receiver, key: (isOperator ? "@" : "") + name, .get)
      case KVO_REFUSED_SETTING: .undefinedKey(of: receiver, key: name, .set)
      case KVO_REFUSED_OPERATOR: .badOperator(of: receiver, name: name)
      case KVO_REFUSED_COLLECTION: .throughCollection(receiver, key: name)
      case KVO_REFUSED_NO_NUMBER: badOperand("a number")
      case KVO_REFUSED_INCOMPARABLE:
        badOperand("comparable with \(Swift.type(of: refusal.other.flatMap { $0.value } ?? NSNull()))")
      case KVO_REFUSED_NO_LIST: badOperand("an array")
      case KVO_REFUSED_NO_SET: badOperand("a set")
      case KVO_REFUSED_NOT_DISTINCT: badOperand("Hashable")
      default: badOperand("Hashable, to be in a set")
      }
  }
}

/// Returns the stored properties of a structure, or the elements of a tuple; `nil` for anything else.
func fields(of value: Any) -> Mirror.Children? {
  let mirror = Mirror(reflecting: value)
  // A structure with a mirror of its own, such as a range, has no style.
  let mayHaveFields = [.struct, .tuple, nil].contains(mirror.displayStyle) && !(type(of: value) is AnyObject.Type)
  return mayHaveFields ? mirror.children : nil
}

/// Calls `visit` for each element of a collection until it fails.
private func visitElements(
  of collection: any KeyValueCodedCollection, _ state: UnsafeMutablePointer<WalkState>,
  _ visit: @convention(c) (UnsafeMutablePointer<kvo_binding_value>, UnsafeMutableRawPointer) -> kvo_status,
  _ argument: UnsafeMutableRawPointer
) -> kvo_status {
  state.pointee.depth += 1
  defer { state.pointee.depth -= 1 }
  var status = KVO_OK
  var storage = kvo_binding_value.empty
  withUnsafeMutablePointer(to: &storage) { element in
    if let objects = collection._codedObjects {
      for object in objects where status == KVO_OK {
        element.store(object: object)
        status = visit(element, argument)
        element.words(as: (any KeyValueObservable).self).deinitialize(count: 1)
      }
      return
    }
    for each in collection._codedElements {
      element.store(each)
      if element.pointee.kind == KVO_KIND_NIL { state.pointee.nilElement = each }
      status = visit(element, argument)
      element.destroy()
      element.pointee.kind = KVO_KIND_NIL
      guard status == KVO_OK else { return }
    }
  }
  return status
}

/// Returns the number that a sum is, divided by its count: an `NSDecimalNumber` if it is a decimal.
private func number(of sum: kvo_binding_sum) -> Any {
  guard let decimal = decimal(of: sum) else { return NSNumber(value: sum.quotient) }
  return NSDecimalNumber(decimal: sum.count == 1 ? decimal : decimal / Decimal(sum.count))
}

private func decimal(of sum: kvo_binding_sum) -> Decimal? {
  guard let text = sum.text else { return nil }
  if sum.is_short, (-100...100).contains(sum.exponent) {
    let sign: FloatingPointSign = sum.is_negative ? .minus : .plus
    return Decimal(sign: sign, exponent: Int(sum.exponent), significand: Decimal(sum.magnitude))
  }
  return NumberText(String(cString: text)).flatMap { Decimal(exactly: $0) }
}

/// A collection that a walk makes.
private final class GatheredValues {
  private let how: kvo_gathering
  @exclusivity(unchecked) private var items: [Any] = []
  @exclusivity(unchecked) private var seen: Set<AnyHashable> = []

  init(_ how: kvo_gathering, _ capacity: Int) {
    self.how = how
    items.reserveCapacity(capacity)
  }

  /// Adds a value; `false` if it has to be distinct and cannot be compared.
  func add(_ value: Any?) -> Bool {
    switch how {
    case KVO_GATHER_LIST: items.append(value ?? NSNull())
    case KVO_GATHER_CHANGED: items.append(value ?? Any?.none as Any)
    case KVO_GATHER_SET:
      guard let hashable = value as? AnyHashable else { return false }
      seen.insert(hashable)
    default:
      guard let value, let identity = identity(of: value) else { return false }
      if seen.insert(identity).inserted { items.append(value) }
    }
    return true
  }

  /// Returns what a value is compared by: the value itself if it is `Hashable`, otherwise the object's identity.
  private func identity(of value: Any) -> AnyHashable? {
    if let hashable = value as? AnyHashable { return hashable }
    return type(of: value) is AnyObject.Type ? ObjectIdentifier(value as AnyObject) : nil
  }

  var collection: any KeyValueCodedCollection { how == KVO_GATHER_SET ? seen : items }
}

/// Compares two values of the same comparable type; `nil` for other values, which may be numbers.
private func isLess(_ left: Any, _ right: Any) -> Bool? {
  func compare<Value: Comparable>(_ left: Value) -> Bool? { (right as? Value).map { left < $0 } }
  if Swift.type(of: left) == Swift.type(of: right), let left = left as? any Comparable { return compare(left) }
  switch (left, right) {
  case (let left as String, let right as String): return left < right
  case (let left as Date, let right as Date): return left < right
  default: return nil
  }
}
