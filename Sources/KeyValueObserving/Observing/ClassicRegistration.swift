// Registration by a string key path: for a classic observer, or on behalf of a receiver.

import CKVO

/// Who is told of the changes of a string key path.
enum ClassicObserver {
  case observer(any KeyValueObserver, note: String?)
  case receiver(KeyRelay)
}

extension KeyValueObservable {
  /// Registers an observer for a string key path. Returns 0 on failure.
  @discardableResult
  nonisolated func add(
    _ told: ClassicObserver, _ keyPath: String, _ options: NSKeyValueObservingOptions,
    _ context: UnsafeMutableRawPointer?, _ site: SourceLocation
  ) -> kvo_observation {
    let object = adoptedObject
    guard let components = components(ofPath: keyPath) else {
      raiseRegistrationFault(KVO_ERROR_MALFORMED_KEY_PATH, object: object, keyPath: keyPath, site: site)
      return 0
    }
    guard !isDistinctRefused(keyPath, options, site) else { return 0 }
    let cls = KeyValueClass.of(self)
    reportDeclaration(of: components[0], site)
    let key = keyOfChanges(of: components[0])
    let isRuntime = self is KeyValueRuntimeObject
    let property = cls.property(named: components[0])
    let isUndefined = components.count == 1 && !isRuntime && property == nil
    let needed = options.needed
    // A key that the class does not have has the value that the class returns for undefined keys. A class may also provide all keys
    // itself.
    let isStored = isUndefined ? needed.isDisjoint(with: [.old, .new]) : isRuntime || property?.isDirect ?? false
    let isSimple = isStored && !cls.answersKeysItself
    // A property observed under another key than its name is a path of one component, and is removed as such.
    let isNamed = key == keyHash(components[0])
    let isDirect = components.count == 1 && isNamed && !cls.isAffected(key) && isSimple
    let (observer, relay, note): (any KeyValueObserver, KeyRelay?, String?) =
      switch told {
      case .observer(let observer, let note): (observer, nil, note)
      case .receiver(let relay): (relay, relay, nil)
      }
    let needsValue = components.count > 1 || needed.isSuperset(of: [.initial, .new])
    if needsValue {
      do { _ = try KeyPathWalk.observedValue(of: self, at: keyPath) } catch {
        raise(
          error,
          .registration(keyPath: keyPath, observer: observer, options: options, context: context, site))
        return 0
      }
    }
    let classic = ClassicObservation(
      observer: observer, object: self, keyPath: keyPath, context: context, options: options, site: site,
      evaluating: isDirect ? nil : components, isUndefined: isUndefined, note: note,
      relay: relay)
    let registered = classic.register(with: object, key: isDirect ? key : nil)
    if registered == 0 { return 0 }
    if components.count == 1, !isRuntime {
      reportSilence(of: components[0], site)
    } else if (self as? KeyValueDictionary)?.dictionary[keyPath] != nil {
      kvo_binding_never_notifies(adoptedObject, keyPath, nil, KVO_SILENCE_DOTTED_KEY, site.cFile, site.cLine)
    }
    return registered
  }
}
