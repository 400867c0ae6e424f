// The implementation of Cocoa's verbs: what the overridable methods of KeyValueObject do.

import CKVO

/// What is known about a binding, for `infoForBinding(_:)`.
struct CocoaInfo {
  private let observed: () -> (any KeyValueObservable)?
  private let keyPath: String
  private let options: [NSBindingOption: Any]

  init(_ object: some KeyValueObservable, _ keyPath: String, _ options: [NSBindingOption: Any]) {
    let reference = UnretainedObject(object)
    observed = { reference.load() }
    self.keyPath = keyPath
    self.options = options
  }

  var dictionary: [NSBindingInfoKey: Any]? {
    observed().map { [.observedObject: $0, .observedKeyPath: keyPath, .options: options] }
  }
}

extension KeyValueObject {
  /// Does what ``bind(_:to:withKeyPath:options:)`` does.
  nonisolated func makeBinding(
    _ name: NSBindingName, _ given: Any, _ keyPath: String, _ options: [NSBindingOption: Any]
  ) {
    func refuse(_ reason: String) {
      let identity = ObserverIdentity(self)
      raiseFault(
        KVO_FAULT_INVALID_ARGUMENT,
        "cannot bind \"\(name.rawValue)\" of \(identity.className)@\(identity.addressText) with \(reason)",
        help: "nothing was bound")
    }
    guard let observed = unwrapped(given).flatMap(observable) else {
      return refuse("a \(type(of: given)), which cannot be observed")
    }
    do throws(CocoaOptions.Refusal) {
      bind(name, observed, keyPath, try CocoaOptions(options), options)
    } catch {
      refuse(error.text)
    }
  }

  private nonisolated func bind<Observed: KeyValueObservable>(
    _ name: NSBindingName, _ observed: Observed, _ keyPath: String, _ options: CocoaOptions,
    _ given: [NSBindingOption: Any]
  ) {
    guard let components = components(ofPath: keyPath) else {
      return raiseRegistrationFault(
        KVO_ERROR_MALFORMED_KEY_PATH, object: observed.adoptedObject, keyPath: keyPath, site: .unknown)
    }
    let path = BoundPath(keyPath, components, raises: options.raises)
    do throws(KeyPathError) {
      _ = try KeyPathWalk.observedValue(of: self, at: .key(name.rawValue))
      _ = try path.read(observed)
    } catch {
      return raise(error, .coding(nil))
    }
    endBinding(name)
    CocoaBinding(self, name, observed, path, options).start(
      self, observed, info: CocoaInfo(observed, keyPath, given))
  }

  /// Does what ``unbind(_:)`` does.
  nonisolated func endBinding(_ name: NSBindingName) {
    BindingTable.endCocoa(SourceOrigin(self, name.rawValue))
  }

  /// Returns what ``infoForBinding(_:)`` returns.
  nonisolated func knownInfo(of name: NSBindingName) -> [NSBindingInfoKey: Any]? {
    BindingTable.info(of: SourceOrigin(self, name.rawValue))?.dictionary
  }

  /// Returns what ``valueClassForBinding(_:)`` returns.
  nonisolated func valueType(of name: NSBindingName) -> Any.Type? {
    guard let property = KeyValueClass.of(self).property(named: name.rawValue) else { return nil }
    let type = Swift.type(of: property.path).valueType
    return (type as? any OptionalProtocol.Type)?.wrappedType ?? type
  }
}

/// The bindings that classes expose.
enum ExposedBindings {
  private static let all = Guarded<[ObjectIdentifier: [NSBindingName]]>([:])

  static func expose(_ name: NSBindingName, of type: KeyValueObject.Type) {
    all.withLock { all in
      let known = all[ObjectIdentifier(type)] ?? []
      if !known.contains(name) { all[ObjectIdentifier(type)] = known + [name] }
    }
  }

  /// Returns the names that a class and its superclasses expose, those of superclasses first.
  static func names(of type: KeyValueObject.Type) -> [NSBindingName] {
    let inherited = (_getSuperclass(type) as? KeyValueObject.Type).map { names(of: $0) } ?? []
    let own = all.withLock { $0[ObjectIdentifier(type)] ?? [] }
    return inherited + own.filter { !inherited.contains($0) }
  }
}
