// What is remembered of key paths.

/// What was found for key paths, or that there is nothing.
final class KeyPathTable<Value>: @unchecked Sendable {
  private let known = Guarded<[AnyKeyPath: Value?]>([:])

  func value(for path: AnyKeyPath, find: () -> Value?) -> Value? {
    if let known = known.withLock({ $0[path] }) { return known }
    let found = find()  // outside the lock: it evaluates
    // Not without end: key paths with positions, such as `\.items[1]`, differ in each.
    known.withLock { if $0.count < 512 { $0[path] = .some(found) } }
    return found
  }
}
