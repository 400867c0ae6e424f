// Faults raised by key-value coding.

import CKVO

/// A value, possibly an object, as fault messages name it.
struct NamedValue {
  let className: String
  private let address: UnsafeMutableRawPointer?

  init(_ value: Any) {
    if let object = value as? KeyValueRuntimeObject {
      className = object.className
      address = UnsafeMutableRawPointer(object.pointer)
    } else {
      className = _typeName(type(of: value), qualified: false)
      address =
        type(of: value) is AnyObject.Type
        ? UnsafeMutableRawPointer(Unmanaged.passUnretained(value as AnyObject).toOpaque()) : nil
    }
  }

  /// `Person@0x1234`, or the type of a value that has no address.
  var name: String { address.map { "\(className)@\(hexadecimal($0))" } ?? "a value of type \(className)" }
  /// The name in Apple's format.
  var appleName: String { "<\(className) \(hexadecimal(address))>" }
}

/// The operation for which a key path is evaluated.
enum KeyPathUse {
  /// Key-value coding; without a source location if the called method has no parameter for it.
  case coding(SourceLocation?)
  case registration(
    keyPath: String, observer: AnyObject, options: NSKeyValueObservingOptions, context: UnsafeMutableRawPointer?,
    SourceLocation)
  /// The delivery to a registration whose key path can no longer be evaluated after a change.
  case delivery(ClassicObservation)

  /// The source location of the call, if it passes one.
  fileprivate var site: SourceLocation? {
    switch self {
    case .coding(let site): site
    case .registration(_, _, _, _, let site): site
    case .delivery: nil
    }
  }

  fileprivate func raise(_ code: kvo_fault_code, _ detail: String, apple: String? = nil, help: String? = nil) {
    switch self {
    case .coding(let site): raiseFault(code, detail, apple: apple, help: help, site: site)
    case .registration(let keyPath, _, _, _, let site):
      raiseFault(code, "cannot observe \"\(keyPath)\": \(detail)", apple: apple, help: help, site: site)
    case .delivery(let classic):
      raiseFault(
        code, "\"\(classic.keyPath)\" cannot be followed: \(detail)", apple: apple, help: help, concerned: classic)
    }
  }
}

/// Reports why an object cannot be read or set for a key, with the source location of the call in progress.
func raise(_ error: KeyPathError, askedOf object: any KeyValueObservable, forKey key: String) {
  raise(error, .coding(CallLocation.site(of: object, key: key)))
}

/// Reports why a key path cannot be evaluated.
func raise(_ error: KeyPathError, _ use: KeyPathUse) {
  switch error {
  case .undefinedKey(let receiver, let key, let access): raiseUndefinedKey(key, of: receiver, access, use)
  case .throughCollection(let collection, let key):
    let named = NamedValue(collection)
    use.raise(
      KVO_FAULT_THROUGH_COLLECTION, "\"\(key)\" would go through \(named.name)",
      apple: "[\(named.appleName) addObserver:forKeyPath:options:context:] is not supported. Key path: \(key)",
      help:
        "observe the collection itself, an operator such as \"@count\" or \"@sum.\(key)\", or the elements one by one")
  case .badOperator(let receiver, let name): raiseBadOperator("@\(name)", of: receiver, use)
  case .badOperand(let receiver, let name, let operand, let need):
    // The operands of the nested unions must be collections. The other operators need values that they can compute with.
    let isElement = name.hasSuffix("Arrays") || name.hasSuffix("Sets")
    use.raise(
      isElement ? KVO_FAULT_BAD_OPERATOR : KVO_FAULT_TYPE_MISMATCH,
      "@\(name) of \(NamedValue(receiver).name) was applied to \(NamedValue(operand).name), which is not \(need)",
      help: isElement
        ? "put behind @\(name) a key whose values are collections"
        : "put behind @\(name) a key whose values it can compute with: numbers for @sum and @avg, values that can be "
          + "compared for @min and @max")
  case .unsuitable(let receiver, let key, let failure):
    let given = failure.given.map { _typeName(Swift.type(of: $0), qualified: false) } ?? "nil"
    let reason = failure.reason.map { " (\($0))" } ?? ""
    use.raise(
      KVO_FAULT_TYPE_MISMATCH,
      "cannot set \"\(key)\" of \(NamedValue(receiver).name): expected "
        + "\(_typeName(failure.expected, qualified: false)), was given \(given)\(reason)",
      help: "pass a value of type \(_typeName(failure.expected, qualified: false)), or assign to the property, "
        + "\"object.\(key) = …\", which the compiler checks"
        + (use.site == nil ? "; setValue(_:forKeyPath:) reports its source line, kvo symbolize that of the stack" : ""))
  case .reported: break
  }
}

/// - Parameter name: The operator with its `@`.
private func raiseBadOperator(_ name: String, of receiver: Any, _ use: KeyPathUse) {
  let named = NamedValue(receiver)
  let isCollection = receiver is any KeyValueCodedCollection
  var detail = "\(named.name) has no collection operator \(name)"
  if !isCollection, !(receiver is any CodedDictionary) { detail += ": it is no collection" }
  use.raise(
    KVO_FAULT_BAD_OPERATOR, detail,
    apple: "[\(named.appleName) valueForKeyPath:]: this class does not implement the \(name.dropFirst()) operation.",
    help: (operators.contains(name) ? "" : suggestion(for: name, among: operators))
      + "the operators are @count, @sum, @avg, @min, @max, @distinctUnionOfObjects, @distinctUnionOfArrays, "
      + "@distinctUnionOfSets, and of arrays also @unionOfObjects and @unionOfArrays"
      + (isCollection ? "" : "; each follows a collection"))
}

private func raiseUndefinedKey(_ key: String, of receiver: Any, _ access: KeyPathError.Access, _ use: KeyPathUse) {
  // As on Apple's platforms, the name of an operator without the key that it needs is a key, as is any of a dictionary.
  let isCollection = receiver is any KeyValueCodedCollection
  let mayBeKey = isCollection ? operators.contains(key) : receiver is any CodedDictionary
  if access == .get, key.hasPrefix("@"), !mayBeKey { return raiseBadOperator(key, of: receiver, use) }
  let named = NamedValue(receiver)
  let object = observable(receiver)
  // Apple's collections name the key without the "@".
  let appleKey = mayBeKey && key.hasPrefix("@") ? String(key.dropFirst()) : key
  let parts = fields(of: receiver)?.compactMap(\.label) ?? []
  let isKnown = object.map { KeyValueClass.of($0).property(named: key) != nil } ?? parts.contains(key)
  let isReadOnly = access == .set && isKnown
  var detail: String
  let apple: String
  switch use {
  case .coding:
    detail = "cannot \(access == .get ? "get" : "set") \"\(key)\" of \(named.name): "
    detail += isReadOnly ? "it has no setter" : "there is no such key"
  case .registration, .delivery: detail = "\(named.name) has no observable value for \"\(key)\""
  }
  if case .registration(let keyPath, let observer, let options, let context, _) = use {
    apple =
      "[\(named.appleName) addObserver:\(NamedValue(observer).appleName) forKeyPath:@\"\(keyPath)\" "
      + "options:\(options.rawValue) context:\(hexadecimal(context))] was sent to an object that is not KVC-compliant for "
      + "the \"\(appleKey)\" property."
  } else {
    let selector = access == .get ? "valueForUndefinedKey:" : "setValue:forUndefinedKey:"
    apple = "[\(named.appleName) \(selector)]: this class is not key value coding-compliant for the key \(appleKey)."
  }
  let help: String
  if isCollection && mayBeKey {
    help = "the operator \(key) is followed by what it takes of each element: \"\(key).self\", or a key instead of self"
  } else if isReadOnly {
    help =
      parts.isEmpty
      ? "give the property a setter, or set what it is computed from"
      : "set the whole \(named.className): a part of it has no setter by key"
  } else if let object {
    let names = (object as? KeyValueRuntimeObject)?.keys ?? KeyValueClass.of(object).properties.map(\.name)
    help = keys(names, of: named.className, instead: key)
  } else if !parts.isEmpty {
    help = keys(parts, of: named.className, instead: key)
  } else {
    help =
      "keys are properties of @KeyValueObservable classes and C objects, stored properties of structures, and entries of "
      + "dictionaries"
  }
  use.raise(KVO_FAULT_UNDEFINED_KEY, detail, apple: apple, help: help)
}

private func keys(_ names: [String], of className: String, instead key: String) -> String {
  let list = names.isEmpty ? "none" : names.joined(separator: ", ")
  return "\(suggestion(for: key, among: names))the keys of \(className) are: \(list)"
}

/// Returns "did you mean …? " if one of the names is similar.
private func suggestion(for name: String, among names: [String]) -> String {
  var nearest: String?
  var least = 0
  for each in names {
    let away = kvo_name_distance(name, each)
    if away > 0, nearest == nil || away < least { (nearest, least) = (each, away) }
  }
  return nearest.map { "did you mean \"\($0)\"? " } ?? ""
}

/// The collection operators.
private let operators = [
  "@count", "@sum", "@avg", "@min", "@max", "@distinctUnionOfObjects", "@distinctUnionOfArrays", "@distinctUnionOfSets",
  "@unionOfObjects", "@unionOfArrays",
]

func raiseNilValue(of object: any KeyValueObservable, key: String) {
  let named = NamedValue(object)
  raiseFault(
    KVO_FAULT_NIL_VALUE, "cannot set \"\(key)\" of \(named.name) to nil: the property cannot be nil",
    apple: "[\(named.appleName) setNilValueForKey]: could not set nil as the value for the key \(key).",
    help: "override setNilValueForKey(_:) to set another value for nil", site: CallLocation.site(of: object, key: key))
}
