// The kinds of faults, by name.

import CKVO

extension KeyValueFault {
  /// A kind of misuse: what the code of a fault stands for.
  ///
  /// ```swift
  /// if fault.kind == .notRegistered { print(fault.summary) }
  /// ```
  public struct Kind: RawRepresentable, Hashable, Sendable {
    /// The code: 2 for `KVO0002`.
    public let rawValue: Int

    /// Creates a kind from a code.
    public init(rawValue: Int) { self.rawValue = rawValue }

    private init(_ code: kvo_fault_code) { rawValue = Int(code.rawValue) }

    /// KVO0001: an object was deallocated while observed.
    public static let deallocatedWhileObserved = Kind(KVO_FAULT_DEALLOCATED_WHILE_OBSERVED)
    /// KVO0002: removal of an observer that is not registered.
    public static let notRegistered = Kind(KVO_FAULT_NOT_REGISTERED)
    /// KVO0003: removal of an observation that was removed before.
    public static let removedTwice = Kind(KVO_FAULT_REMOVED_TWICE)
    /// KVO0004: an observer died without removing its observation.
    public static let danglingObserver = Kind(KVO_FAULT_DANGLING_OBSERVER)
    /// KVO0005: an observation's id was used after its object had died.
    public static let staleHandle = Kind(KVO_FAULT_STALE_HANDLE)
    /// KVO0007: registration on an object that is being destroyed.
    public static let dyingObject = Kind(KVO_FAULT_DYING_OBJECT)
    /// KVO0008: an invalid argument, such as NULL or a value that never was an id.
    public static let invalidArgument = Kind(KVO_FAULT_INVALID_ARGUMENT)
    /// KVO0009: undefined key.
    public static let undefinedKey = Kind(KVO_FAULT_UNDEFINED_KEY)
    /// KVO0010: malformed key path.
    public static let malformedKeyPath = Kind(KVO_FAULT_MALFORMED_KEY_PATH)
    /// KVO0011: an observation that can never notify.
    public static let neverNotifies = Kind(KVO_FAULT_NEVER_NOTIFIES)
    /// KVO0012: memory that is not an object of a registered class.
    public static let unsupportedObject = Kind(KVO_FAULT_UNSUPPORTED_OBJECT)
    /// KVO0014: an observation that had not ended when the process did.
    public static let neverEnded = Kind(KVO_FAULT_NEVER_ENDED)
    /// KVO0015: an observation that ended before any change.
    public static let endedUnused = Kind(KVO_FAULT_ENDED_UNUSED)
    /// KVO0016: a removal without a context that matches several observations.
    public static let ambiguousRemoval = Kind(KVO_FAULT_AMBIGUOUS_REMOVAL)
    /// KVO0017: a wait that would never end.
    public static let endlessWait = Kind(KVO_FAULT_ENDLESS_WAIT)
    /// KVO0018: an observed key path goes through a collection.
    public static let throughCollection = Kind(KVO_FAULT_THROUGH_COLLECTION)
    /// KVO0019: an observation that exists already.
    public static let duplicate = Kind(KVO_FAULT_DUPLICATE)
    /// KVO0020: setters of a class cannot be intercepted.
    public static let noInterception = Kind(KVO_FAULT_NO_INTERCEPTION)
    /// KVO0021: an observed object's header was overwritten.
    public static let overwrittenHeader = Kind(KVO_FAULT_OVERWRITTEN_HEADER)
    /// KVO0022: a change that no class of the observer's hierarchy handled.
    public static let unhandled = Kind(KVO_FAULT_UNHANDLED)
    /// KVO0023: deliveries nested too deeply.
    public static let recursion = Kind(KVO_FAULT_RECURSION)
    /// KVO0024: observations that set each other's properties without end.
    public static let unsettled = Kind(KVO_FAULT_UNSETTLED)
    /// KVO0025: a callback that was left by longjmp or an exception.
    public static let abandonedDelivery = Kind(KVO_FAULT_ABANDONED_DELIVERY)
    /// KVO0026: a value of the wrong type.
    public static let typeMismatch = Kind(KVO_FAULT_TYPE_MISMATCH)
    /// KVO0027: a callback that takes longer than KVO_SLOW_MS.
    public static let slowCallback = Kind(KVO_FAULT_SLOW_CALLBACK)
    /// KVO0028: didChange without willChange.
    public static let didWithoutWill = Kind(KVO_FAULT_DID_WITHOUT_WILL)
    /// KVO0029: willChange without didChange.
    public static let unfinishedChange = Kind(KVO_FAULT_UNFINISHED_CHANGE)
    /// KVO0030: willChange and didChange on different threads.
    public static let crossedThreads = Kind(KVO_FAULT_CROSSED_THREADS)
    /// KVO0031: a change announced manually that the setter announces too.
    public static let doubleNotification = Kind(KVO_FAULT_DOUBLE_NOTIFICATION)
    /// KVO0032: an object on an observed key path was replaced without notification.
    public static let silentChange = Kind(KVO_FAULT_SILENT_CHANGE)
    /// KVO0033: indexes that do not match the collection or the other half of the change.
    public static let badIndexes = Kind(KVO_FAULT_BAD_INDEXES)
    /// KVO0034: an invalid environment variable.
    public static let badConfiguration = Kind(KVO_FAULT_BAD_CONFIGURATION)
    /// KVO0035: nil for a property that cannot be nil.
    public static let nilValue = Kind(KVO_FAULT_NIL_VALUE)
    /// KVO0036: a collection operator that is unknown or used wrongly.
    public static let badOperator = Kind(KVO_FAULT_BAD_OPERATOR)
    /// KVO0037: an index out of range.
    public static let outOfRange = Kind(KVO_FAULT_OUT_OF_RANGE)
    /// KVO0038: a mutation of a collection that is nil.
    public static let nilCollection = Kind(KVO_FAULT_NIL_COLLECTION)
    /// KVO0039: a key that is declared to affect itself.
    public static let selfDependency = Kind(KVO_FAULT_SELF_DEPENDENCY)
    /// KVO0040: different numbers of elements and indexes.
    public static let badCollectionChange = Kind(KVO_FAULT_BAD_COLLECTION_CHANGE)
  }

  /// The kind of the misuse.
  public var kind: Kind { Kind(rawValue: code) }
}

extension KeyValueFault.Kind: CustomStringConvertible {
  /// The code and its meaning, such as `KVO0002 (removal of an observer that is not registered)`.
  public var description: String {
    let digits = String(rawValue)
    let code = "KVO" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    return meaning.map { "\(code) (\($0))" } ?? code
  }

  private var meaning: String? {
    var index = 0
    while let row = kvo_fault_kind_at(index) {
      if Int(row.pointee.code.rawValue) == rawValue { return String(cString: row.pointee.meaning) }
      index += 1
    }
    return nil
  }
}
