// The view of an object for frameworks that are built on withObservationTracking.

public import Observation

extension KeyValueObservable {
  /// The object as an `Observable` of the Observation framework: for user interfaces and others that call `withObservationTracking`.
  ///
  /// ```swift
  /// withObservationTracking {
  ///   print(document.observed.title)
  /// } onChange: {
  ///   print("will change")
  /// }
  /// ```
  /// See ``KeyValueObserved``. An addition of this library.
  public nonisolated var observed: KeyValueObserved<Self> { KeyValueObserved(self) }
}

/// An observable object, seen by the Observation framework.
///
/// A property that is read through the view while `withObservationTracking` runs is one that the tracking depends on; it may be a stored
/// one, a computed one or a key path. As with a class that is `@Observable`, `onChange` is called once, before the next change, on the
/// thread that makes it; if two threads change it at once, perhaps on both. Unlike there, it is called also for a set to an equal value,
/// and is not called for a change that is not announced to observers.
///
/// The property is observed from this read until the tracking ends, with its `onChange` or because it is released. Other reads observe
/// nothing. A property that is an observable object is a view, too, so that `document.observed.author?.name` depends on both.
///
/// The view retains the object, a tracking does not. After the object's deallocation `onChange` is not called any more. Any thread.
@dynamicMemberLookup
public struct KeyValueObserved<Object: KeyValueObservable>: Observable {
  private let object: Object

  init(_ object: Object) { self.object = object }

  /// The value of a property, which the present tracking then depends on.
  public subscript<Value>(dynamicMember keyPath: KeyPath<Object, Value>) -> Value {
    ObservedRead.note(keyPath, of: object)
    return object[keyPath: keyPath]
  }

  /// The value of a property, which can be set.
  public subscript<Value>(dynamicMember keyPath: ReferenceWritableKeyPath<Object, Value>) -> Value {
    get {
      ObservedRead.note(keyPath, of: object)
      return object[keyPath: keyPath]
    }
    nonmutating set { object[keyPath: keyPath] = newValue }
  }

  /// The view of an observable object that is the value of a property.
  public subscript<Value: KeyValueObservable>(
    dynamicMember keyPath: KeyPath<Object, Value>
  ) -> KeyValueObserved<Value> {
    ObservedRead.note(keyPath, of: object)
    return KeyValueObserved<Value>(object[keyPath: keyPath])
  }

  /// The view of an observable object that is the value of an optional property.
  public subscript<Value: KeyValueObservable>(
    dynamicMember keyPath: KeyPath<Object, Value?>
  ) -> KeyValueObserved<Value>? {
    ObservedRead.note(keyPath, of: object)
    return object[keyPath: keyPath].map { KeyValueObserved<Value>($0) }
  }

  // The same once more: of a property that can be set, the compiler prefers the functions above that take a writable key path.

  /// The view of an observable object that is the value of a property.
  public subscript<Value: KeyValueObservable>(
    dynamicMember keyPath: ReferenceWritableKeyPath<Object, Value>
  ) -> KeyValueObserved<Value> {
    ObservedRead.note(keyPath, of: object)
    return KeyValueObserved<Value>(object[keyPath: keyPath])
  }

  /// The view of an observable object that is the value of an optional property.
  public subscript<Value: KeyValueObservable>(
    dynamicMember keyPath: ReferenceWritableKeyPath<Object, Value?>
  ) -> KeyValueObserved<Value>? {
    ObservedRead.note(keyPath, of: object)
    return object[keyPath: keyPath].map { KeyValueObserved<Value>($0) }
  }
}

extension KeyValueObserved: Sendable where Object: Sendable {}
