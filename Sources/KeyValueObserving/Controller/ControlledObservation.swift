// What a controller knows about its observations.

import CKVO
import Synchronization

/// One observation of a controller.
final class ControlledObservation: @unchecked Sendable {
  let keyPath: String
  let object: ObserverIdentity
  private let options: NSKeyValueObservingOptions
  private let site: SourceLocation
  /// The object, if the controller keeps it.
  private let retained: AnyObject?
  private let hasEnded = Atomic<Bool>(false)
  /// `nil` until it is registered. Under the controller's lock, as `follow`, `end` and `isActive`.
  fileprivate var token: NSKeyValueObservation?
  /// Its place in the order in which the controller's were made. Under the controller's lock.
  fileprivate var number = 0

  init(
    _ object: AnyObject, _ keyPath: String, _ options: NSKeyValueObservingOptions, _ site: SourceLocation,
    retains: Bool
  ) {
    self.object = ObserverIdentity(object)
    self.keyPath = keyPath
    self.options = options
    self.site = site
    retained = retains ? object : nil
  }

  /// Whether the handler may be called.
  var isWanted: Bool { !hasEnded.load(ordering: .acquiring) }

  /// Whether it is registered, or is being registered.
  var isActive: Bool { isWanted && token?.isActive ?? true }

  /// Sets the token, and returns whether the observation has not been ended meanwhile.
  func follow(_ token: NSKeyValueObservation) -> Bool {
    self.token = token
    return isWanted
  }

  /// Has no new call of the handler begin, and returns the token, which is still to be invalidated.
  func end() -> NSKeyValueObservation? {
    hasEnded.store(true, ordering: .releasing)
    return token
  }

  /// The object, the key path, the options, and where it was observed.
  var text: String {
    let text = "\"\(keyPath)\" of \(object.className)@\(object.addressText)"
    return "\(text)\(options.names.map { ", .\($0)" }.joined()), at \(site.file):\(site.line)"
  }
}

/// The observations of a controller.
struct ControlledObservations {
  /// What was taken out. It is to be invalidated and released when the lock is free: that runs code of the program.
  struct Taken {
    fileprivate var observations: [ControlledObservation] = []
    fileprivate var tokens: [NSKeyValueObservation] = []

    func invalidate() { for token in tokens { token.invalidate() } }
  }

  /// By the address of the object and the key path, each in the order in which they were made.
  private var all: [UnsafeRawPointer: [String: [ControlledObservation]]] = [:]
  private var count = 0
  private var made = 0
  /// At this count, the observations that have ended by themselves are taken out: at a cost in proportion to those that were added.
  private var limit = 16

  /// Adds an observation and returns an active one of the same key path, if there is one, and what was taken out.
  mutating func add(
    _ added: ControlledObservation, replacing: Bool
  ) -> (earlier: ControlledObservation?, Taken) {
    let (address, keyPath) = (added.object.address, added.keyPath)
    var taken = Taken()
    // Those at the end that have ended are taken out: each is looked at once.
    while let last = all[address]?[keyPath]?.last, !last.isActive {
      all[address]![keyPath]!.removeLast()
      take(last, &taken)
    }
    let earlier = all[address]?[keyPath]?.last
    if replacing { take({ _ in true }, of: address, keyPath, &taken) }
    if count >= limit {
      for address in Array(all.keys) { take({ !$0.isActive }, of: address, nil, &taken) }
      limit = max(16, 2 * count)
    }
    made += 1
    added.number = made
    all[address, default: [:]][keyPath, default: []].append(added)
    count += 1
    return (earlier, taken)
  }

  /// Takes out the observations, of all objects or of one, and of all key paths or of one.
  mutating func take(of object: UnsafeRawPointer? = nil, _ keyPath: String? = nil) -> Taken {
    var taken = Taken()
    for address in object.map({ [$0] }) ?? Array(all.keys) { take({ _ in true }, of: address, keyPath, &taken) }
    taken.observations.sort { $0.number < $1.number }
    taken.tokens = taken.observations.compactMap(\.token)
    return taken
  }

  /// Takes out those observations of an object that a condition holds for.
  private mutating func take(
    _ isTaken: (ControlledObservation) -> Bool, of object: UnsafeRawPointer, _ keyPath: String?, _ taken: inout Taken
  ) {
    // Taken out of the dictionary, so that it is not copied.
    guard var ofObject = all.removeValue(forKey: object) else { return }
    for keyPath in keyPath.map({ [$0] }) ?? Array(ofObject.keys) {
      guard let present = ofObject.removeValue(forKey: keyPath) else { continue }
      var staying: [ControlledObservation] = []
      for each in present {
        if isTaken(each) { take(each, &taken) } else { staying.append(each) }
      }
      if !staying.isEmpty { ofObject[keyPath] = staying }
    }
    if !ofObject.isEmpty { all[object] = ofObject }
  }

  private mutating func take(_ observation: ControlledObservation, _ taken: inout Taken) {
    taken.observations.append(observation)
    if let token = observation.end() { taken.tokens.append(token) }
    count -= 1
  }

  /// The observations that have not ended, sorted by object, those of an object in the order in which they were made.
  var active: [ControlledObservation] {
    all.sorted { $0.key < $1.key }.flatMap { $0.value.values.joined().sorted { $0.number < $1.number } }.filter(
      \.isActive)
  }
}

extension NSKeyValueObservingOptions {
  /// The options' names in the program's text.
  fileprivate var names: [String] {
    let named: [(Self, String)] = [
      (.new, "new"), (.old, "old"), (.initial, "initial"), (.prior, "prior"), (.collectionChanges, "collectionChanges"),
      (.distinct, "distinct"), (.endsWithObject, "endsWithObject"), (.endsWithObserver, "endsWithObserver"),
    ]
    return named.filter { contains($0.0) }.map(\.1)
  }
}
