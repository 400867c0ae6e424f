// Evaluation of string key paths over objects, dictionaries and collections, for key-value coding and for observation.

import CKVO

/// The reason why a string key path cannot be evaluated. The error stays on the thread that evaluates it.
enum KeyPathError: Error, @unchecked Sendable {
  enum Access {
    case get
    case set
  }

  /// A value has no such key, or none that can be set.
  case undefinedKey(of: Any, key: String, Access)
  /// An observed path continues after a collection without an operator.
  case throughCollection(Any, key: String)
  /// A collection operator, named without `@`, that the value does not support.
  case badOperator(of: Any, name: String)
  /// A value that an operator cannot process.
  case badOperand(of: Any, name: String, operand: Any, need: String)
  /// The value to set does not have the right type.
  case unsuitable(of: Any, key: String, ConversionFailure)
  /// Called code of the program has raised a fault, which ends the evaluation.
  case reported
}

/// One evaluation of a string key path, which the C walk does with the functions of `codedOperations`.
///
/// Objects are read through their getters. While the runtime records, each key that is read is recorded, so that evaluating a path
/// is enough to observe it.
struct KeyPathWalk {
  /// Whether the evaluation is for an observer. Its path must not go through a collection without an operator, and an undefined key
  /// is a fault of the registration.
  let isObserving: Bool
  /// The source location of a call of key-value coding, if known.
  var place: CallLocation?
  private let faults = kvo_thread_fault_count()

  /// Returns the value of an observed path, and declares the stored property that it comes from, if it does.
  static func observedValue(of object: some KeyValueObservable, at path: String) throws(KeyPathError) -> Any? {
    try observedValue(of: object, at: .path(path))
  }

  static func observedValue(of object: some KeyValueObservable, at path: CodedPath) throws(KeyPathError) -> Any? {
    try KeyPathWalk(isObserving: true).value(of: object, at: path, declares: true)
  }

  /// Returns the value for a path from any value, or `nil` if a value on the path is `nil`.
  ///
  /// - Parameter declares: Whether the value is declared to be that of the last property, if it is.
  func value(of receiver: Any, at path: CodedPath, declares: Bool = false) throws(KeyPathError) -> Any? {
    var found = kvo_binding_value.empty
    try walk(receiver, path, declares: declares) { receiver, path, state in
      kvo_binding_value_for_path(receiver, path, isObserving, &found, state)
    }
    return withUnsafeMutablePointer(to: &found) { $0.take() }
  }

  /// Sets the value for a path; does nothing if a value on the path is `nil`.
  ///
  /// - Returns: If the receiver is a value, its changed copy, which the caller has to store; `nil` if there is nothing to store.
  func set(_ value: Any?, of receiver: Any, at path: CodedPath) throws(KeyPathError) -> Any? {
    var changed = kvo_binding_value.empty
    var given = kvo_binding_value.empty
    // As it is given, because an override of `setValue(_:forKey:)` may distinguish optionals.
    withUnsafeMutablePointer(to: &given) { given in if let value { given.store(value, as: KVO_KIND_VALUE) } }
    defer { withUnsafeMutablePointer(to: &given) { $0.destroy() } }
    try walk(receiver, path, declares: false) { receiver, path, state in
      kvo_binding_set_value_for_path(receiver, path, &given, &changed, state)
    }
    return withUnsafeMutablePointer(to: &changed) { $0.take() }
  }

  /// Calls a function of C for a path from any value.
  private func walk(
    _ receiver: Any, _ path: CodedPath, declares: Bool,
    _ call: (UnsafePointer<kvo_binding_value>, UnsafePointer<CChar>, UnsafeMutablePointer<WalkState>) -> kvo_status
  ) throws(KeyPathError) {
    var storage = kvo_binding_value.empty
    let error = withUnsafeMutablePointer(to: &storage) { storage in
      storage.store(receiver, as: KVO_KIND_UNKNOWN)
      defer { storage.destroy() }
      return path.withCString { path, isEscaped -> KeyPathError? in
        var state = WalkState(self, isEscaped: isEscaped, declares: declares)
        let status = withUnsafeMutablePointer(to: &state) { call(storage, path, $0) }
        if status == KVO_OK { return nil }
        if let error = state.error { return error }
        fatalError("KVO: \(String(cString: kvo_last_error()))")
      }
    }
    if let error { throw error }
  }

  // MARK: - Keys of an object

  /// Returns the value of the object's `value(forKey:)`, which its class may override.
  func value(of object: any KeyValueObservable, forKey key: String) throws(KeyPathError) -> Any? {
    guard isObserving else {
      place?.ask(object)
      let value = object.value(forKey: key)
      try check()
      return value
    }
    // An override of `value(forKey:)` may not read the key itself, so its dependencies are recorded here.
    if KeyValueClass.of(object).answersKeysItself { object.recordDependencies(ofKey: key) }
    if object.defines(key) { return object.value(forKey: key) }
    // The class may still provide a value. If not, it is a fault of the registration, which has a source location.
    let value = KeyValueFault.withHandler({ _ in .ignore }, in: { object.value(forKey: key) })
    do { try check() } catch { throw .undefinedKey(of: object, key: key, .get) }
    return value
  }

  /// Calls the object's `setValue(_:forKey:)`, which its class may override.
  func set(_ value: Any?, of object: any KeyValueObservable, forKey key: String) throws(KeyPathError) {
    place?.ask(object)
    object.setValue(value, forKey: key)
    try check()
  }

  /// Ends the evaluation, like an exception would, if called code of the program has raised a fault.
  private func check() throws(KeyPathError) {
    if kvo_thread_fault_count() != faults { throw .reported }
  }
}
