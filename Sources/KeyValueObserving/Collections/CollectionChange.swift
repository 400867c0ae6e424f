// Telling a change of a collection around its store: the store itself goes through the property's own setter, in silence.

import CKVO

/// A property of an object, whose collection is changed by a handle.
struct CollectionProperty {
  let object: any KeyValueObservable
  let property: KeyValueProperty
  /// Where the handle was made.
  let site: SourceLocation?

  /// Tells a change to the observers of the property. What the setter of a computed one changes besides is told to those who do not
  /// hear of the property itself.
  ///
  /// - Parameters:
  ///   - positions: `nil` for a set.
  ///   - oldElements: The elements that go, as a value of the property's type; asked for when somebody wants them.
  ///   - newElements: Those that come.
  ///   - store: Tells whether it has stored: an observer that was told before may have changed the collection. If it has not,
  ///     the change is not told.
  func tell<Value>(
    _ kind: NSKeyValueChange, at positions: Positions?, oldElements: () -> Value?, newElements: () -> Value?,
    store: () -> Bool
  ) {
    let object = object.__keyValueObject
    guard kvo_object_is_observed(object) else {
      _ = store()
      return
    }
    func tell(_ positions: UnsafePointer<Int>?, _ count: Int) {
      withUnsafeTemporaryAllocation(of: kvo_frame.self, capacity: 1) { frame in
        let frame = frame.baseAddress!
        let wants = kvo_frame_begin_change(
          frame, object, property.key, kvo_change_kind(UInt32(kind.rawValue)), positions, count)
        let oldValue = wants & UInt32(KVO_FRAME_WANTS_OLD) != 0 ? oldElements() : nil
        withPointer(to: oldValue) { oldValue in
          if wants & UInt32(KVO_FRAME_WANTS_WILL) != 0 { kvo_frame_will(frame, oldValue) }
          let isStored = withoutTelling(object, store)
          guard wants != 0 else { return }
          if isStored {
            // Not read at each delivery, as the new value of a setting is: where an observer has put these elements meanwhile is not
            // known.
            withPointer(to: wants & UInt32(KVO_FRAME_WANTS_NEW) != 0 ? newElements() : nil) { newValue in
              while kvo_frame_next(frame) { kvo_frame_deliver(frame, oldValue, newValue) }
            }
          }
          kvo_frame_end(frame)
        }
      }
    }
    if let positions { positions.withPointer { tell($0, positions.count) } } else { tell(nil, 0) }
  }

  private func withoutTelling(_ object: KeyValueObjectReference, _ store: () -> Bool) -> Bool {
    withUnsafeTemporaryAllocation(of: kvo_mute.self, capacity: 1) { mute in
      kvo_mute_begin(mute.baseAddress!, object, property.key)
      defer { kvo_mute_end(mute.baseAddress!) }
      return store()
    }
  }
}

/// How a property of a known type is read and changed.
struct PropertyAccess<Value> {
  let read: () -> Value
  /// In place where the property can be; `nil` for one without a setter.
  let modify: (((inout Value) -> Void) -> Void)?
}
