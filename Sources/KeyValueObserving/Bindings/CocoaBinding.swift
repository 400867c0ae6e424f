// One binding of Cocoa's kind: what it observes on both sides, and what it transfers.

import CKVO

/// A binding between a property of an object and a key path of an observed one. The closures of its observations retain it.
final class CocoaBinding<Observed: KeyValueObservable>: @unchecked Sendable {
  private let name: NSBindingName
  private let path: BoundPath
  private let options: CocoaOptions
  private let mine: TwoWaySide<KeyValueObject, BoundValue>
  private let model: TwoWaySide<Observed, BoundValue>
  private let transfer: TwoWayTransfer

  init(
    _ object: KeyValueObject, _ name: NSBindingName, _ observed: Observed, _ path: BoundPath, _ options: CocoaOptions
  ) {
    (self.name, self.path, self.options) = (name, path, options)
    let own = BoundPath(name.rawValue, [name.rawValue], raises: true)
    // As in AppKit, the observed object is not corrected if the property makes another value of its own.
    mine = TwoWaySide(
      object, \KeyValueObject[bound: own], SourceOrigin(object, name.rawValue), agree: BoundValue.agree,
      accepts: { _, _ in true }, mayRefuse: true)
    let transforms = options.transformer != nil
    // What was entered is shown as the observed object has it: validated, or transformed back and forth.
    model = TwoWaySide(
      observed, \Observed[bound: path], SourceOrigin(observed, path.text), agree: BoundValue.agree,
      accepts: { made, sent in
        if case .value = sent { !transforms && BoundValue.agree(made, sent) } else { false }
      }, mayRefuse: false)
    transfer = TwoWayTransfer(
      mine.origin, model.origin, converts: transforms && options.isReversible, applied: nil, .unknown)
  }

  /// Sets the property, and observes both sides.
  func start(_ object: KeyValueObject, _ observed: Observed, info: CocoaInfo) {
    let own = BoundPath(name.rawValue, [name.rawValue], raises: true)
    let toObject = BoundObservation(observed, path) { self.modelChanged() }.token(for: object, mine.origin)
    modelChanged()
    guard options.isReversible, !path.isComputed else {
      return BindingTable.add(toObject, mine.origin, from: [model.origin], info: info)
    }
    let toModel = BoundObservation(object, own) { self.objectChanged() }.token(for: observed, model.origin)
    let token = NSKeyValueObservation.both(toObject, toModel)
    BindingTable.add(token, mine.origin, from: [model.origin], info: info)
    BindingTable.add(token, model.origin, from: [mine.origin])
  }

  private func modelChanged() {
    guard let object = mine.object.load(), let observed = model.object.load() else { return }
    transfer.changed(observed[bound: path], model, mine, object, options.shown, options.entered)
  }

  private func objectChanged() {
    guard let object = mine.object.load(), let observed = model.object.load() else { return }
    transfer.changed(
      object[keyPath: mine.keyPath], mine, model, observed,
      { self.validated(self.options.entered($0), of: observed, for: object) }, options.shown)
  }

  private func validated(_ value: BoundValue, of observed: Observed, for object: KeyValueObject) -> BoundValue {
    guard options.validates, case .value(let entered) = value else { return value }
    var checked = entered
    do { try observed.validateValue(&checked, forKeyPath: path.text) } catch {
      object.presentError(error, forBinding: name)
      return .nothing
    }
    return BoundValue.isSame(checked, entered) ? value : .validated(checked)
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

  /// Registers it for the object whose property is set, and ends with that object too.
  func token<Target: AnyObject>(for target: Target, _ origin: SourceOrigin) -> NSKeyValueObservation {
    let reference = ReceiverReference(target)
    guard let object = object.load() else { return reference.token([], of: target) }
    if path.components.count == 1 { object.reportSilence(of: path.text, .unknown) }
    let description = ObserverDescription(receiver: target, note: bindingNote(origin).description)
    let observation = path.text.withCString { text in
      ObserverDescription.withC(description) {
        register(
          with: object.adoptedObject, key: nil, keyPath: text, options: kvo_options([], endsWithObject: true),
          observer: $0, site: .unknown)
      }
    }
    return reference.token([observation].filter { $0 != 0 }, of: target)
  }
}
