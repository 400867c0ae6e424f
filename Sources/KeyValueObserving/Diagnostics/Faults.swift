// Faults found by the Swift layer. The C runtime reports them and chooses the action.

import CKVO

func raiseFault(
  _ code: kvo_fault_code, _ detail: String, apple: String? = nil, help: String? = nil,
  concerned: ClassicObservation? = nil, site: SourceLocation? = nil
) {
  func raise(_ observation: UnsafePointer<kvo_fault_observation>?) {
    func raise(_ apple: UnsafePointer<CChar>?, _ help: UnsafePointer<CChar>?) {
      let count = observation == nil ? 0 : 1
      kvo_fault_raise(code, detail, apple, help, observation, count, site?.cFile, site?.cLine ?? 0)
    }
    withOptionalCString(apple) { apple in withOptionalCString(help) { help in raise(apple, help) } }
  }
  if let concerned {
    concerned.withDescription { withUnsafePointer(to: $0, raise) }
  } else {
    raise(nil)
  }
}

func withOptionalCString<Result>(_ string: String?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
  if let string { string.withCString(body) } else { body(nil) }
}

/// Raises the fault for a registration that the runtime refused.
func raiseRegistrationFault(
  _ status: kvo_status, object: KeyValueObjectReference, keyPath: String, site: SourceLocation
) {
  let code =
    switch status {
    case KVO_ERROR_MALFORMED_KEY_PATH: KVO_FAULT_MALFORMED_KEY_PATH
    case KVO_ERROR_DYING_OBJECT: KVO_FAULT_DYING_OBJECT
    default: KVO_FAULT_NO_INTERCEPTION
    }
  // Without the number suffix that distinguishes classes with the same name.
  let name = kvo_object_class(object).map { String(cString: kvo_class_name($0)).prefix { $0 != "#" } } ?? "(no class)"
  let reason = String(cString: kvo_status_string(status))
  raiseFault(
    code, "cannot observe \"\(keyPath)\" of \(name)@\(hexadecimal(kvo_object_instance(object))): \(reason)",
    site: site)
}

extension KeyValueObservable {
  /// Reports that an observation of one key can never notify, if that is known.
  nonisolated func reportSilence(of key: String, _ site: SourceLocation) {
    guard let silence = KeyValueClass.of(self).silence(of: key) else { return }
    kvo_binding_never_notifies(adoptedObject, key, nil, silence, site.cFile, site.cLine)
  }

  /// Reports, when a key is observed, what is wrong with the declaration of what affects it.
  nonisolated func reportDeclaration(of key: String, _ site: SourceLocation) {
    let cls = KeyValueClass.of(self)
    cls.reportSelfDependency(of: key, site)
    cls.reportMalformedPath(of: key, site)
    for path in cls.affectingPaths[keyHash(key)] ?? [] {
      let first = String(path.prefix { $0 != "." })
      guard !first.hasPrefix("@"), cls.silence(of: first) == KVO_SILENCE_UNDEFINED else { continue }
      kvo_binding_never_notifies(adoptedObject, path, key, KVO_SILENCE_UNDEFINED, site.cFile, site.cLine)
    }
  }
}

/// Raises the fault for a change that every class in the observer's hierarchy has passed to `super`.
func raiseUnhandledChange(
  observer: AnyObject, keyPath: String?, object: Any?, change: [NSKeyValueChangeKey: Any]?,
  context: UnsafeMutableRawPointer?
) {
  let identity = ObserverIdentity(observer)
  let observed = (object as? any KeyValueObservable).map { ObserverIdentity($0) }
  let observedText = observed.map { "<\($0.className): \($0.addressText)>" } ?? "(null)"
  // Only the kind of the change, because values may be private.
  let kind = change?[.kindKey] as? UInt ?? 0
  raiseFault(
    KVO_FAULT_UNHANDLED,
    "a change of \"\(keyPath ?? "")\" of \(observed.map { "\($0.className)@\($0.addressText)" } ?? "nil") reached "
      + "\(identity.className)@\(identity.addressText), and no class of its hierarchy handled it",
    apple:
      "<\(identity.className): \(identity.addressText)>: An -observeValueForKeyPath:ofObject:change:context: message was "
      + "received but not handled.\nKey path: \(keyPath ?? "(null)")\nObserved object: \(observedText)\nChange: {\n    "
      + "kind = \(kind);\n}\nContext: \(hexadecimal(context))",
    help: "handle the changes that have your context, and pass only other contexts to super",
    concerned: ClassicObservation.current)
}

func hexadecimal(_ pointer: UnsafeMutableRawPointer?) -> String {
  "0x" + String(UInt(bitPattern: pointer), radix: 16)
}
