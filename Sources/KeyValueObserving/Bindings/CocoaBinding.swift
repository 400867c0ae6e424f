// One binding of Cocoa's kind: what it observes on both sides, and what it sets.

import CKVO

/// A binding between a property of an object and a key path of an observed one. The closures of its observations retain it.
final class CocoaBinding<Observed: KeyValueObservable>: @unchecked Sendable {
  private let name: NSBindingName
  private let path: BoundPath
  private let own: BoundPath
  private let options: CocoaOptions
  private let object: UnretainedObject<KeyValueObject>
  private let observed: UnretainedObject<Observed>
  private let origin, modelOrigin: SourceOrigin
  /// What the property has made of the value that was set last, and in which settling.
  private let shown = Guarded<(made: BoundValue, serial: UInt64)?>(nil)
  private let repetitions = Repetitions()

  init(
    _ object: KeyValueObject, _ name: NSBindingName, _ observed: Observed, _ path: BoundPath, _ options: CocoaOptions
  ) {
    (self.name, self.path, self.options) = (name, path, options)
    own = BoundPath(name.rawValue, [name.rawValue], raises: true)
    (self.object, self.observed) = (UnretainedObject(object), UnretainedObject(observed))
    origin = SourceOrigin(object, name.rawValue)
    modelOrigin = SourceOrigin(observed, path.text)
  }

  /// Sets the property, and observes both sides.
  func start(_ object: KeyValueObject, _ observed: Observed, info: CocoaInfo) {
    let toObject = ReceiverReference(object)
    if options.isReversible, !path.isComputed {
      let toModel = ReceiverReference(observed)
      let token = NSKeyValueObservation.both(toObject.end, toModel.end)
      BindingTable.add(token, origin, from: [modelOrigin], info: info)
      BindingTable.add(token, modelOrigin, from: [origin])
      // First, because observers may set the property again when it has been set.
      observe(object, own, for: observed, toModel, modelOrigin, isInitial: false) { self.objectChanged() }
    } else {
      BindingTable.add(toObject.token, origin, from: [modelOrigin], info: info)
    }
    observe(observed, path, for: object, toObject, origin, isInitial: true) { self.modelChanged() }
  }

  /// Observes a key path for the object whose property is set.
  private func observe<Root: KeyValueObservable, Target: KeyValueObservable>(
    _ object: Root, _ path: BoundPath, for target: Target, _ reference: ReceiverReference<Target>,
    _ origin: SourceOrigin, isInitial: Bool, _ changed: @escaping () -> Void
  ) {
    let observation = BoundObservation(object, path, changed).register(for: target, origin, isInitial: isInitial)
    reference.follow(observation, of: target)
  }

  private func modelChanged() {
    if let object = object.load(), let observed = observed.load() { show(observed[bound: path], in: object) }
  }

  /// Sets the property to an observed value, unless it has it.
  private func show(_ value: BoundValue, in object: KeyValueObject) {
    let value = options.shown(value)
    guard value.isSettable, differ(object[bound: own], value) else { return }
    object[bound: own] = value
    keep((object[bound: own], kvo_settling_serial()))
  }

  private func objectChanged() {
    guard let object = object.load(), let observed = observed.load() else { return }
    let value = object[bound: own]
    // As in AppKit, the observed object is not corrected if the property makes another value of its own.
    if let shown = keep(nil), shown.serial == kvo_settling_serial(), BoundValue.agree(value, shown.made) {
      keep(shown)
      return
    }
    let present = observed[bound: path]
    if BoundValue.agree(options.shown(present), value) { return }
    let checked = validated(options.entered(value), of: observed, for: object)
    if checked.isSettable, differ(present, checked) { observed[bound: path] = checked }
    // What was entered is shown as the observed object has it: refused, validated, or transformed back and forth.
    show(observed[bound: path], in: object)
  }

  /// Returns whether a value is to be set: one that cannot be compared is set a few times only.
  private func differ(_ present: BoundValue, _ value: BoundValue) -> Bool {
    BoundValue.comparison(present, value).map(!) ?? repetitions.begin()
  }

  @discardableResult
  private func keep(_ new: (made: BoundValue, serial: UInt64)?) -> (made: BoundValue, serial: UInt64)? {
    // The one before is released when the lock is free.
    var shown = new
    self.shown.withLock { swap(&$0, &shown) }
    return shown
  }

  private func validated(_ value: BoundValue, of observed: Observed, for object: KeyValueObject) -> BoundValue {
    guard options.validates, case .value(let entered) = value else { return value }
    var checked = entered
    do { try observed.validateValue(&checked, forKeyPath: path.text) } catch {
      object.presentError(error, forBinding: name)
      return .nothing
    }
    return BoundValue.comparison(checked, entered) ?? false ? value : .validated(checked)
  }
}

/// The observation of a key path by string, whose keys need not exist.
private final class BoundObservation<Observed: KeyValueObservable>: ObservationBox {
  private let object: UnretainedObject<Observed>
  private let path: BoundPath
  private let changed: () -> Void

  init(_ object: Observed, _ path: BoundPath, _ changed: @escaping () -> Void) {
    self.object = UnretainedObject(object)
    self.path = path
    self.changed = changed
    super.init { box, _ in unsafeDowncast(box, to: BoundObservation<Observed>.self).changed() }
  }

  override func evaluate() -> UnsafeMutableRawPointer? {
    guard let object = object.load() else { return nil }
    // A fault is told when the value is transferred.
    return .__copy((try? path.read(object)) ?? .nothing, as: BoundValue.self)
  }

  override func release(_ value: UnsafeMutableRawPointer) { value.__release(as: BoundValue.self) }

  override func areEqual(_ first: UnsafeRawPointer, _ second: UnsafeRawPointer) -> Bool {
    BoundValue.agree(
      first.assumingMemoryBound(to: BoundValue.self).pointee, second.assumingMemoryBound(to: BoundValue.self).pointee)
  }

  /// Registers it for the object whose property is set. Returns 0 on failure.
  func register<Target: KeyValueObservable>(
    for target: Target, _ origin: SourceOrigin, isInitial: Bool
  ) -> kvo_observation {
    guard let object = object.load() else { return 0 }
    if path.components.count == 1 { object.reportSilence(of: path.text, .unknown) }
    let description = ObserverDescription(
      receiver: target, note: bindingNote(origin).description, sets: BoundKey(target, origin.key))
    let options = kvo_options(isInitial ? [.initial] : [], endsWithObject: true)
    return path.text.withCString { text in
      ObserverDescription.withC(description) {
        register(with: object.adoptedObject, key: nil, keyPath: text, options: options, observer: $0, site: .unknown)
      }
    }
  }
}
