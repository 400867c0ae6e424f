// One registration of the classic API: builds the change dictionary, calls the observer and describes itself for reports.

import CKVO
import Foundation
import Synchronization

final class ClassicObservation: ObserverBox, @unchecked Sendable {
  let identity: ObserverIdentity
  let keyPath: String
  /// What reports and the graph say in addition.
  let note: String?
  let context: UnsafeMutableRawPointer?
  let options: NSKeyValueObservingOptions
  /// Whether the options contain `.distinct`, and so more values are known than were asked for.
  private let isDistinct: Bool
  let site: SourceLocation
  /// The components of the key path if it is evaluated as an expression; `nil` for a single stored key.
  private let components: [String]?
  /// The actor on which the expression is evaluated, if not where the change is made.
  private let evaluator: ActorGate?
  /// Whether the runtime keeps the last value.
  private let keepsLast: Bool
  /// Whether the class has no property for the key; that is an error only when the value is needed.
  private let isUndefined: Bool
  /// Whether the first evaluation, during registration, needs the value.
  private let needsFirst: Atomic<Bool>
  /// Tracks the elements if the observer asked for `.collectionChanges`.
  private let follower: CollectionFollower?
  /// The set of shared observers that this registration belongs to, if any.
  private let shared: SharedRegistration?
  /// The observer, if it exists for this registration only, and on whose behalf it is registered.
  private let relay: KeyRelay?
  /// With `.endsWithObserver`, the end at the observer's death.
  private let end: ObservationEnd?
  private weak var object: (any KeyValueObservable)?
  private let registration = Atomic<UInt64>(0)

  init(
    observer: any KeyValueObserver, object: any KeyValueObservable, keyPath: String, context: UnsafeMutableRawPointer?,
    options: NSKeyValueObservingOptions, site: SourceLocation, evaluating components: [String]?,
    isUndefined: Bool = false, note: String? = nil, shared: SharedRegistration? = nil, relay: KeyRelay? = nil
  ) {
    self.isUndefined = isUndefined
    needsFirst = Atomic(options.needed.isSuperset(of: [.initial, .new]))
    identity = relay?.receiver.identity ?? ObserverIdentity(observer)
    end = options.contains(.endsWithObserver) ? ObservationEnd() : nil
    self.note = relay?.receiver.note ?? note
    self.object = object
    self.keyPath = keyPath
    self.context = context
    self.options = options
    isDistinct = options.contains(.distinct)
    self.site = site
    self.components = components
    let areStored = components.map { Self.areStored($0, of: object) } ?? true
    let evaluator = areStored ? nil : relay?.receiver.evaluator
    self.evaluator = evaluator
    keepsLast = options.needed.contains(.old) && components.map { Self.keepsLast($0, of: object) } ?? false
    self.shared = shared
    self.relay = relay
    let follower =
      options.contains(.collectionChanges)
      ? unrecorded { CollectionFollower(of: object, keyPath, options, on: evaluator) } : nil
    if let follower { relay?.receiver.end?.remember(follower) }
    self.follower = follower
    super.init(observer) { box, change in unsafeDowncast(box, to: ClassicObservation.self).deliver(change) }
  }

  override func evaluate() -> UnsafeMutableRawPointer? {
    guard let object, let components else { return nil }
    if isUndefined, kvo_track_is_recording() {
      let isNeeded = needsFirst.exchange(options.needed.contains(.new), ordering: .relaxed)
      if !isNeeded {
        object.recordDependencies(ofKey: components[0])
        // A class that overrides `value(forKey:)` is read here, so that the evaluation records what the value depends on.
        guard KeyValueClass.of(object).answersKeysItself else { return .__copy(NSNull(), as: Any.self) }
        let value = try? KeyPathWalk.observedValue(of: object, at: keyPath)
        return .__copy(dictionaryValue(value as Any), as: Any.self)
      }
    }
    return .__copy(value(of: object), as: Any.self)
  }

  override func release(_ value: UnsafeMutableRawPointer) { value.__release(as: Any.self) }

  override func value(of property: OpaquePointer, at storage: UnsafeRawPointer) -> UnsafeMutableRawPointer? {
    .__copy(value(at: storage, of: property), as: Any.self)
  }

  override func areEqual(_ first: UnsafeRawPointer, _ second: UnsafeRawPointer) -> Bool {
    isEqual(first.assumingMemoryBound(to: Any.self).pointee, second.assumingMemoryBound(to: Any.self).pointee)
  }

  /// Returns the value to deliver. A key that is undefined because another object was put on the path is a fault.
  private func value(of object: any KeyValueObservable) -> Any {
    do {
      return dictionaryValue(try KeyPathWalk.observedValue(of: object, at: keyPath) as Any)
    } catch {
      raise(error, .delivery(self))
      return NSNull()
    }
  }

  /// Registers the observation for a key, or for its expression if `key` is `nil`. Returns 0 on failure.
  @discardableResult
  func register(
    with object: KeyValueObjectReference, key: UInt64?, endsWithObject: Bool = false
  ) -> kvo_observation {
    let ends = endsWithObject || relay != nil || !options.isDisjoint(with: .ends)
    let isReceiver = relay != nil
    let observation = identity.className.withCString { name in
      keyPath.withCString { path in
        withOptionalCString(note) { note in
          let observer = kvo_observer_identity(class_name: name, address: identity.address)
          return register(
            with: object, key: key, keyPath: path, options: kvo_options(options.needed, endsWithObject: ends),
            context: context,
            observer: .init(
              identity: observer, note: note, isReceiver: isReceiver, evaluator: evaluator,
              readsAgain: follower != nil || relay?.receiver.readsAgain ?? false, sets: relay?.receiver.sets),
            site: site,
            keepsLast: key == nil && keepsLast)
        }
      }
    }
    registration.store(observation, ordering: .relaxed)
    follower?.follow(observation)
    if let end, let observer = loadObserver() {
      end.follow(observation)
      end.watchReceiver(observer)
    }
    return observation
  }

  /// Whether a path goes through stored properties only: see `ExpressionPath.isStored`.
  static func areStored(_ components: [String], of object: any KeyValueObservable) -> Bool {
    var cls: KeyValueClass? = KeyValueClass.of(object)
    return components.allSatisfy { name in
      guard let present = cls, !present.answersKeysItself, let property = present.property(named: name) else {
        return false
      }
      cls = property.valueClass
      return property.notifiesAlways(in: present)
    }
  }

  /// Whether the runtime keeps the last value, which is the next old one: unless it holds an object, which would be retained.
  private static func keepsLast(_ components: [String], of object: any KeyValueObservable) -> Bool {
    var (cls, last): (KeyValueClass?, KeyValueProperty?) = (KeyValueClass.of(object), nil)
    for name in components {
      guard let present = cls, !present.answersKeysItself, let property = present.property(named: name) else {
        return false
      }
      (cls, last) = (property.valueClass, property)
    }
    guard let type = last.map({ Swift.type(of: $0.path).valueType }), !(type is any _KeyValueCollection.Type) else {
      return false
    }
    return _openExistential(type, do: holdsNoObject)
  }

  /// Calls the observer.
  private func deliver(_ raw: UnsafePointer<kvo_raw_change>) {
    guard let object else { return }
    guard let observer = loadObserver() else { return miss(raw, object) }
    if let follower, !raw.pointee.is_prior { return deliver(raw, following: follower, of: object, to: observer) }
    let (old, new) = values(raw, of: object)
    let kind = UInt(raw.pointee.kind.rawValue)
    var change: [NSKeyValueChangeKey: Any]
    if isDistinct {
      if isDropped(raw.pointee.kind == KVO_CHANGE_SETTING, old, new) { return }
      change = changeDictionary(
        kind, new: options.contains(.new) ? new : nil, old: options.contains(.old) ? old : nil)
    } else {
      change = changeDictionary(kind, new: new, old: old)
    }
    if let indexes = IndexSet(__positions: raw.pointee.indexes, count: raw.pointee.index_count) {
      change[.indexesKey] = indexes
    }
    if raw.pointee.is_prior { change[.notificationIsPriorKey] = true }
    call(observer, of: object, change)
  }

  /// Calls the observer with the changes of a collection's elements.
  private func deliver(
    _ raw: UnsafePointer<kvo_raw_change>, following follower: CollectionFollower, of object: any KeyValueObservable,
    to observer: any KeyValueObserver
  ) {
    follower.changed(announced: raw.pointee.announcedElements) {
      value(of: object)
    } deliver: { kind, indexes, old, new in
      func value(_ value: Any?) -> Any {
        let value = dictionaryValue(value as Any)
        return kind == .setting ? value : (value as? NSOrderedSet)?.itemArray ?? value
      }
      if isDropped(kind == .setting, old.map(value), new.map(value)) { return }
      var change: [NSKeyValueChangeKey: Any] = [.kindKey: kind.rawValue]
      if options.contains(.new) { change[.newKey] = new.map(value) }
      if options.contains(.old) { change[.oldKey] = old.map(value) }
      change[.indexesKey] = indexes
      call(observer, of: object, change)
    }
  }

  /// Returns the values of a change that the runtime delivers.
  private func values(
    _ raw: UnsafePointer<kvo_raw_change>, of object: any KeyValueObservable
  ) -> (old: Any?, new: Any?) {
    guard raw.pointee.property != nil, components != nil, !leads(from: object, to: raw.pointee.changed) else {
      return (value(at: raw.pointee.old_value, raw), value(at: raw.pointee.new_value, raw))
    }
    // An object on the path was replaced without a notification. As on Apple's platforms, the values are those of the whole path.
    let present = value(of: object)
    return (present, raw.pointee.is_prior ? nil : present)
  }

  /// Returns whether a change is not told because of `.distinct`.
  private func isDropped(_ isSetting: Bool, _ old: Any?, _ new: Any?) -> Bool {
    guard isDistinct, isSetting, let old, let new else { return false }
    return equality(old, new) ?? false
  }

  private func call(
    _ observer: any KeyValueObserver, of object: any KeyValueObservable, _ change: [NSKeyValueChangeKey: Any]
  ) {
    let outer = Self.exchangeCurrent(Unmanaged.passUnretained(self).toOpaque())
    observer.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
    _ = Self.exchangeCurrent(outer)
  }

  /// Returns whether the path before its last component leads to the object that has changed.
  private func leads(from object: any KeyValueObservable, to changed: UnsafePointer<kvo_object>?) -> Bool {
    guard let path = CodedPath.splitting(keyPath).head else { return true }
    let holder = try? KeyPathWalk(isObserving: true).value(of: object, at: path)
    return holder.flatMap(unwrapped).flatMap(observable).map { UnsafePointer($0.__keyValueObject) } == changed
  }

  private func value(at storage: UnsafeRawPointer?, _ raw: UnsafePointer<kvo_raw_change>) -> Any? {
    guard let storage else { return nil }
    // Without a property, the storage is the one that `evaluate` returned.
    guard let property = raw.pointee.property else { return storage.assumingMemoryBound(to: Any.self).pointee }
    let value = value(at: storage, of: property)
    // As on Apple's platforms, the changed elements of an ordered set are also delivered as an array.
    return raw.pointee.kind == KVO_CHANGE_SETTING ? value : (value as? NSOrderedSet)?.itemArray ?? value
  }

  private func value(at storage: UnsafeRawPointer, of property: OpaquePointer) -> Any {
    guard let swift = KeyValueProperty.of(property) else { return swiftValue(of: property, at: storage) ?? NSNull() }
    return dictionaryValue(swift.value(at: storage))
  }

  /// The observation that this thread is delivering, for reports from within the callback.
  static var current: ClassicObservation? {
    let pointer = exchangeCurrent(nil)
    _ = exchangeCurrent(pointer)
    return pointer.map { Unmanaged<ClassicObservation>.fromOpaque($0).takeUnretainedValue() }
  }

  private static func exchangeCurrent(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    kvo_thread_exchange(KVO_THREAD_DELIVERY, pointer)
  }

  /// Does not deliver a change. An observer that is not deallocated yet may still remove itself, in its `deinit`; otherwise the
  /// observation ends, and it is reported, once, that the observer was deallocated without being removed. On Apple's platforms this
  /// would be a call into freed memory.
  private func miss(_ raw: UnsafePointer<kvo_raw_change>, _ object: any KeyValueObservable) {
    guard observerIsDeallocated(), kvo_binding_observer_died(raw.pointee.observation) == KVO_OK, end == nil else {
      return
    }
    let observed = ObserverIdentity(object)
    raiseFault(
      KVO_FAULT_DANGLING_OBSERVER,
      "the observer \(identity.className)@\(identity.addressText) of \"\(keyPath)\" of \(observed.className)@"
        + "\(observed.addressText) was deallocated without being removed",
      help: "add the observer with the option .endsWithObserver, observe with a closure and for: self, or call "
        + "removeObserver(_:forKeyPath:context:) in the observer's deinit at the latest",
      concerned: self)
  }

  /// Calls `body` with the description of this registration for reports, which is valid until `body` returns.
  func withDescription<Result>(_ body: (kvo_fault_observation) -> Result) -> Result {
    keyPath.withCString { keyPath in
      identity.className.withCString { className in
        withOptionalCString(note) { note in
          body(
            kvo_fault_observation(
              observation: registration.load(ordering: .relaxed), key_path: keyPath,
              options: kvo_options(options, endsWithObject: false), observer_class: className,
              observer: identity.address, context: context, note: note, file: site.cFile,
              file_length: site.file.utf8CodeUnitCount, line: site.cLine, callback: nil, object: nil,
              object_class: nil, frames: nil, frame_count: 0, duplicate_count: 0))
        }
      }
    }
  }
}

/// The values of a change dictionary.
private enum ChangePart { case kind, new, old }

/// Dictionaries with the keys that a change may have, by which values it has: `mapValues` copies the keys without hashing them.
private let changeTemplates: [[NSKeyValueChangeKey: ChangePart]] = [
  [.kindKey: .kind], [.kindKey: .kind, .newKey: .new], [.kindKey: .kind, .oldKey: .old],
  [.kindKey: .kind, .newKey: .new, .oldKey: .old],
]

private func changeDictionary(_ kind: UInt, new: Any?, old: Any?) -> [NSKeyValueChangeKey: Any] {
  changeTemplates[(new != nil ? 1 : 0) + (old != nil ? 2 : 0)].mapValues { part in
    switch part {
    case .kind: kind
    case .new: new!
    case .old: old!
    }
  }
}
