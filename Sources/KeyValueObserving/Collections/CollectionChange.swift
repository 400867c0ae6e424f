// Notification of a change of a collection. The store itself goes through the property's setter without notifying.

import CKVO

/// A collection property of an object, as a proxy accesses it.
struct CollectionProperty: NamedCollection {
  let object: any KeyValueObservable
  let property: KeyValueProperty
  /// The source location at which the proxy was created.
  let site: SourceLocation?
  var key: String { property.name }
  var valueType: Any.Type { Swift.type(of: property.path).valueType }

  /// Makes a change and notifies the observers of the property. If the setter of a computed property changes other properties,
  /// observers that do not observe this property are notified of those changes.
  ///
  /// - Parameters:
  ///   - positions: The indexes of the elements, or `nil` for a set.
  ///   - oldElements: Returns the elements to remove, as a value of the property's type. Called only if an observer wants them, and
  ///     again after the store if it `isLate`.
  ///   - newElements: Returns the elements to insert, in the same way, after the store.
  ///   - store: Stores and returns whether it did. If it did not, nobody is notified. It `isLate` if code of the program may have changed
  ///     the collection since: an observer was notified before the change, or an expression was evaluated.
  func notify<Value>(
    _ kind: NSKeyValueChange, at positions: Positions?, oldElements: () -> Value?, newElements: () -> Value?,
    store: (_ isLate: Bool) -> Bool
  ) {
    let object = object.__keyValueObject
    guard kvo_object_is_observed(object) else {
      _ = store(false)
      return
    }
    func notify(_ positions: UnsafePointer<Int>?, _ count: Int) {
      withUnsafeTemporaryAllocation(of: kvo_frame.self, capacity: 1) { frame in
        let frame = frame.baseAddress!
        let wants = kvo_frame_begin_change(
          frame, object, property.key, kvo_change_kind(UInt32(kind.rawValue)), positions, count)
        let wantsOld = wants & UInt32(KVO_FRAME_WANTS_OLD) != 0
        let isLate = wants & UInt32(KVO_FRAME_WANTS_WILL) != 0
        var oldValue = wantsOld ? oldElements() : nil
        if isLate { withPointer(to: oldValue) { kvo_frame_will(frame, $0) } }
        let isStored = withoutNotifying(object) { store(isLate) }
        guard wants != 0 else { return kvo_binding_stored(object, property.key) }
        if isStored {
          if isLate, wantsOld { oldValue = oldElements() }
          // The new value is not read again for each delivery, as it is for a setting, because another observer may have moved
          // these elements.
          let newValue = wants & UInt32(KVO_FRAME_WANTS_NEW) != 0 ? newElements() : nil
          withPointer(to: oldValue) { oldValue in
            withPointer(to: newValue) { newValue in
              while kvo_frame_next(frame) { kvo_frame_deliver(frame, oldValue, newValue) }
            }
          }
        }
        kvo_frame_end(frame)
      }
    }
    if let positions { positions.withPointer { notify($0, positions.count) } } else { notify(nil, 0) }
  }

  private func withoutNotifying(_ object: KeyValueObjectReference, _ store: () -> Bool) -> Bool {
    withUnsafeTemporaryAllocation(of: kvo_mute.self, capacity: 1) { mute in
      kvo_mute_begin(mute.baseAddress!, object, property.key)
      defer { kvo_mute_end(mute.baseAddress!) }
      return store()
    }
  }
}

/// Functions that read and change a property of a known type.
struct PropertyAccess<Value> {
  let read: () -> Value
  /// Changes the value, in place if the property allows it; `nil` for a read-only property.
  let modify: (((inout Value) -> Void) -> Void)?
}
