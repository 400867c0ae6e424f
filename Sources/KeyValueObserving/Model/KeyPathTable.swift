// A cache of results for key paths.

/// A cache of what was found for key paths, including that nothing was found.
///
/// The arguments of a key path's subscripts are hashed and compared by code of the program. So the lock protects only the reference to
/// a dictionary, which is never changed: another one replaces it. An entry that another thread adds meanwhile may be lost, and is then
/// found again.
final class KeyPathTable<Value>: @unchecked Sendable {
  private let known = Guarded<[AnyKeyPath: Value?]>([:])

  func value(for path: AnyKeyPath, find: () -> Value?) -> Value? {
    var all = known.withLock { $0 }
    if let known = all[path] { return known }
    let found = find()
    all = known.withLock { $0 }  // with what was added meanwhile
    // Limited, because key paths with array indexes, such as `\.items[1]`, are different for each index.
    guard all.count < 512, !ClassesBeingDescribed.isAny else { return found }
    all[path] = .some(found)
    known.withLock { swap(&$0, &all) }  // the other one is released when the lock is free
    return found
  }
}
