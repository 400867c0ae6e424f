// A cache of results for key paths.

/// A cache of what was found for key paths, including that nothing was found.
final class KeyPathTable<Value>: @unchecked Sendable {
  private let known = Guarded<[AnyKeyPath: Value?]>([:])

  func value(for path: AnyKeyPath, find: () -> Value?) -> Value? {
    if let known = known.withLock({ $0[path] }) { return known }
    let found = find()  // outside the lock, because it evaluates the key path
    // Limited, because key paths with array indexes, such as `\.items[1]`, are different for each index.
    known.withLock { if $0.count < 512 { $0[path] = .some(found) } }
    return found
  }
}
