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
  private var token: NSKeyValueObservation?

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

  /// By the address of the object, each in the order in which they were made.
  private var all: [UnsafeRawPointer: [ControlledObservation]] = [:]
  private var count = 0
  /// At this count, the observations that have ended by themselves are taken out: at a cost in proportion to those that were added.
  private var limit = 16

  /// Adds an observation and returns an active one of the same key path, if there is one, and what was taken out.
  mutating func add(
    _ added: ControlledObservation, replacing: Bool
  ) -> (earlier: ControlledObservation?, Taken) {
    let address = added.object.address
    let earlier = all[address]?.last { $0.keyPath == added.keyPath && $0.isActive }
    var taken = take({ !$0.isActive || (replacing && $0.keyPath == added.keyPath) }, of: address)
    if count >= limit {
      let ended = take { !$0.isActive }
      taken.observations += ended.observations
      taken.tokens += ended.tokens
      limit = max(16, 2 * count)
    }
    all[address, default: []].append(added)
    count += 1
    return (earlier, taken)
  }

  /// Takes out the observations, of all objects or of one, that a condition holds for.
  mutating func take(_ isTaken: (ControlledObservation) -> Bool, of object: UnsafeRawPointer? = nil) -> Taken {
    var taken = Taken()
    for address in object.map({ [$0] }) ?? Array(all.keys) {
      var staying: [ControlledObservation] = []
      for each in all[address] ?? [] {
        if isTaken(each) {
          taken.observations.append(each)
          if let token = each.end() { taken.tokens.append(token) }
          count -= 1
        } else {
          staying.append(each)
        }
      }
      all[address] = staying.isEmpty ? nil : staying
    }
    return taken
  }

  /// The observations that have not ended, sorted by object.
  var active: [ControlledObservation] {
    all.sorted { $0.key < $1.key }.flatMap(\.value).filter(\.isActive)
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
