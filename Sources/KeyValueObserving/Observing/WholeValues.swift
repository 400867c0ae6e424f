// Changes as settings of the whole value, however a collection was changed.

import CKVO
import Foundation

extension KeyValueObservable {
  /// Implements `observe` for the option `.whole`.
  nonisolated func observeWhole<Value>(
    _ keyPath: KeyPath<Self, Value>, _ options: NSKeyValueObservingOptions, _ site: SourceLocation,
    _ observer: ObserverDescription?, _ path: ExpressionPath<Self, Value>?,
    _ changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> kvo_observation {
    let base = options.subtracting([.whole, .collectionChanges])
    guard Value.self is any _KeyValueCollection.Type else {
      return observe(keyPath, base.union([.old, .new]), site, observer, sharing: path, changeHandler)
    }
    // The notification of a change of elements has only these elements, so the whole value is read, and the previous one is kept.
    let path = path ?? ExpressionPath(keyPath)
    let evaluator = path.isStored(property(at: keyPath), of: self) ? nil : observer?.evaluator
    let known = WholeValue(path, of: self, isRead: !options.contains(.initial), evaluator)
    observer?.end?.remember(known)
    return observe(keyPath, base.subtracting(.new).union(.old), site, observer?.readingAgain, sharing: path) {
      object, change in
      let isSetting = !change.isPrior
      let new = isSetting ? path.read(object) : nil
      let kept = isSetting ? known.exchange(new) : known.load()
      // What was kept may be outdated, by silent changes.
      let old = change.kind == .setting ? change.oldValue ?? kept : kept
      changeHandler(
        object, NSKeyValueObservedChange(kind: .setting, newValue: new, oldValue: old, isPrior: change.isPrior))
    }
  }
}

/// The collection that an observer of whole values got last.
private final class WholeValue<Object: KeyValueObservable, Value>: RememberedValue, @unchecked Sendable {
  private let path: ExpressionPath<Object, Value>
  private let object: UnretainedObject<Object>
  private let evaluator: ActorGate?
  private let value: Guarded<Value?>

  init(_ path: ExpressionPath<Object, Value>, of object: Object, isRead: Bool, _ evaluator: ActorGate?) {
    (self.path, self.object, self.evaluator) = (path, UnretainedObject(object), evaluator)
    value = Guarded(isRead ? path.read(object) : nil)
  }

  func load() -> Value? { value.withLock { $0 } }

  /// Stores a value and returns the one before it.
  func exchange(_ new: Value?) -> Value? {
    var previous = new
    value.withLock { swap(&$0, &previous) }
    return previous
  }

  /// A change of elements has no old value of its own. An expression of an actor is read on that actor only; elsewhere what was kept is
  /// forgotten.
  override func resumed(deliveringMissed: Bool) {
    guard !deliveringMissed, let object = object.load() else { return }
    _ = exchange(evaluator?.mayEvaluate ?? true ? unrecorded { path.read(object) } : nil)
  }
}

extension NSKeyValueObservingOptions {
  /// `.whole`, if values of a type may be collections: a notification may have a change of elements then.
  @usableFromInline
  static func whole(ifNeededFor type: Any.Type) -> NSKeyValueObservingOptions {
    func mayHoldList<Value>(_: Value.Type) -> Bool {
      [Int]() is Value || Set<Int>() is Value || NSOrderedSet() is Value
    }
    return type is any _KeyValueCollection.Type || _openExistential(type, do: mayHoldList) ? .whole : []
  }

  /// What an observer of the new value needs.
  @inlinable
  static func newValue(of type: Any.Type) -> NSKeyValueObservingOptions { .new.union(.whole(ifNeededFor: type)) }

  /// What an observer of both values needs.
  @inlinable
  static func values(of type: Any.Type, _ initial: Bool = false) -> NSKeyValueObservingOptions {
    .whole(ifNeededFor: type).union(initial ? [.old, .new, .initial] : [.old, .new])
  }
}

/// Registers a handler of each assignment, with the whole value before and after it, for KeyValueObservingTesting.
package func observeAssignments<Object: KeyValueObservable, Value>(
  _ keyPath: KeyPath<Object, Value>, of object: Object, fileID: StaticString, line: UInt,
  _ handler: @escaping (_ old: Value, _ new: Value) -> Void
) -> NSKeyValueObservation {
  let site = SourceLocation(file: fileID, line: line)
  return NSKeyValueObservation(
    object.observe(keyPath, .values(of: Value.self), site, nil) { _, change in
      if let new = change.newValue { handler(change.oldValue ?? new, new) }
    })
}

/// What `onChange` notifies of: changes of the value. As SwiftUI's, it leaves out a set to an equal value.
@usableFromInline
struct ValueChanges<Value> {
  @usableFromInline let areEqual: ((Value, Value) -> Bool)?
  @usableFromInline let last = LastDelivered<Value>()

  /// - Parameter merging: Whether changes have been merged. Then the values of one show nothing, and each is notified of that cannot be
  ///   compared with the one before.
  @inlinable
  init(merging: Bool = false) { areEqual = merging && !last.isKept ? nil : equality(of: Value.self) }

  /// Returns the old and the new value; `nil` if they are equal, or while the key path has no value. Both are the new one if there is no
  /// old value: initially, or because an object on the path was deallocated.
  @inlinable
  func values(of change: NSKeyValueObservedChange<Value>) -> (old: Value, new: Value)? {
    guard let new = change.newValue else { return nil }
    let told = last.exchange(new)
    guard let old = change.oldValue.map({ told ?? $0 }) else { return (new, new) }
    guard areEqual?(old, new) == true else { return (old, new) }
    // A change that is left out passes nothing: an older one may still come, in which an observer has made this one.
    if told == nil { last.forget() }
    return nil
  }
}
