// The classes whose members a thread is asking what affects their keys. The members may use objects of these classes.

import Foundation
import Synchronization

/// The classes that are being described, by thread. Other threads do not wait for a description: they make their own.
///
/// For the code that a thread runs meanwhile, such a class and its subclasses have no answers: to ask for them would never end. What is
/// found for them is not kept.
enum ClassesBeingDescribed {
  private struct Entry {
    let type: ObjectIdentifier
    var accessesVariables = true
    /// The class without answers, and its subclasses.
    var unanswered: [ObjectIdentifier: KeyValueClass] = [:]
  }

  private static let all = Guarded<[UInt: [Entry]]>([:])
  /// How many there are, so that the question is fast.
  private static let count = Atomic<Int>(0)
  private static var thread: UInt { UInt(pthread_self()) }

  /// Whether this thread is describing a class.
  static var isAny: Bool { count.load(ordering: .relaxed) > 0 && all.withLock { $0[thread] != nil } }

  /// Describes a class, which is not being described on this thread.
  static func describe(_ type: any KeyValueObservable.Type) -> KeyValueClass {
    count.add(1, ordering: .relaxed)
    all.withLock { $0[thread, default: []].append(Entry(type: ObjectIdentifier(type))) }
    defer {
      let entry = all.withLock { all in
        let last = all[thread]?.removeLast()
        if all[thread]?.isEmpty ?? false { all[thread] = nil }
        return last
      }
      // Objects may have a class without answers for ever.
      for cls in entry?.unanswered.values ?? [:].values { _ = Unmanaged.passRetained(cls) }
      count.subtract(1, ordering: .relaxed)
    }
    let accessesVariables = type.accessInstanceVariablesDirectly
    all.withLock { all in
      if let last = all[thread]?.indices.last { all[thread]![last].accessesVariables = accessesVariables }
    }
    return KeyValueClass(type, accessesVariables: accessesVariables, hasAnswers: true)
  }

  /// Returns the class without answers if this thread is describing it or one of its superclasses.
  static func unanswered(_ type: any KeyValueObservable.Type) -> KeyValueClass? {
    guard isAny else { return nil }
    let (thread, identifier) = (thread, ObjectIdentifier(type))
    var present: (any AnyObject.Type)? = type
    while let next = present {
      let searched = ObjectIdentifier(next)
      present = _getSuperclass(next)
      guard let (index, entry) = all.withLock({ all in all[thread]?.enumerated().first { $1.type == searched } }) else {
        continue
      }
      if let known = entry.unanswered[identifier] { return known }
      let made = KeyValueClass(type, accessesVariables: entry.accessesVariables, hasAnswers: false)
      all.withLock { $0[thread]![index].unanswered[identifier] = made }
      return made
    }
    return nil
  }
}
