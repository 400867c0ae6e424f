// A property that trackings of the Observation framework depend on: observed as long as there is such a tracking.

import CKVO
import Observation

/// A key path of an object that was read while `withObservationTracking` ran.
///
/// Nothing public says whether a tracking is running, or still depends on a key path. But a tracking retains the key paths that it
/// depends on, and a key path retains the arguments of its subscripts. So each tracking is given a key path whose argument is this object:
/// when nothing depends on it any more, it is released, and its observation ends.
final class ObservedRead: Observable, @unchecked Sendable {
  /// The hash stands for the key path, which must not be hashed and compared while the lock is held: the arguments of its subscripts
  /// are the program's.
  private struct Key: Hashable {
    let object: UnsafeMutableRawPointer
    let hash: Int
  }

  /// The last one that was made for a key: those for key paths with equal hashes take each other's place.
  private final class Reference: @unchecked Sendable {
    let identity: ObjectIdentifier
    weak var read: ObservedRead?

    init(_ read: ObservedRead) {
      identity = ObjectIdentifier(read)
      self.read = read
    }
  }

  private static let all = Guarded<[Key: Reference]>([:])

  private let key: Key
  private let keyPath: AnyKeyPath
  /// Its memory is kept, so that the address in the key is not that of another object.
  private let object: UnretainedObject<AnyObject>
  /// Taken at the object's death: the trackings that remain and their key paths retain each other as long as it is there.
  private let registrar = Guarded<ObservationRegistrar?>(ObservationRegistrar())
  /// Set before others can find this object.
  private var observation: NSKeyValueObservation?

  /// Has a tracking that runs on this thread depend on a key path of an object.
  static func note<Object: KeyValueObservable, Value>(_ keyPath: KeyPath<Object, Value>, of object: Object) {
    let key = Key(object: Unmanaged.passUnretained(object).toOpaque(), hash: keyPath.hashValue)
    // It is released when the lock is free.
    let known = all.withLock { $0[key]?.read }
    if let known, known.keyPath == keyPath { return known.access() }
    var read = ObservedRead(key, keyPath, object)
    read.access()
    // If no tracking has retained it, none is running.
    guard !isKnownUniquelyReferenced(&read) else { return }
    read.observe(keyPath, of: object)
    all.withLock { $0[key] = Reference(read) }
  }

  private init(_ key: Key, _ keyPath: AnyKeyPath, _ object: AnyObject) {
    self.key = key
    self.keyPath = keyPath
    self.object = UnretainedObject(object)
  }

  deinit {
    let (key, identity) = (key, ObjectIdentifier(self))
    Self.all.withLock { all in
      // Another one may have taken its place. It is not loaded: its last other reference may be released meanwhile, and its deinit takes
      // this lock.
      if all[key]?.identity == identity { all[key] = nil }
    }
  }

  private func access() { registrar.withLock { $0 }?.access(self, keyPath: keyPathOfSelf) }

  private func observe<Object: KeyValueObservable, Value>(_ keyPath: KeyPath<Object, Value>, of object: Object) {
    let site = SourceLocation(file: #fileID, line: #line)
    let description = ObserverDescription(receiver: nil, note: "withObservationTracking")
    let observation = NSKeyValueObservation(
      object.observe(keyPath, [.prior], site, description) { [weak self] _, change in
        guard change.isPrior, let self else { return }
        registrar.withLock { $0 }?.willSet(self, keyPath: keyPathOfSelf)
      })
    self.observation = observation
    observation.onEnd { [weak self] _ in
      // It is released when the lock is free.
      _ = self?.registrar.withLock { $0.take() }
    }
  }

  private var keyPathOfSelf: KeyPath<ObservedRead, Void> { \ObservedRead[Argument(read: self)] }

  private subscript(argument: Argument) -> Void { () }

  /// What a key path of this object retains.
  private struct Argument: Hashable {
    let read: ObservedRead

    static func == (first: Self, second: Self) -> Bool { first.read === second.read }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(read)) }
  }
}
