// The conversion of a value of any type to an observable object.

/// Returns a value, which must not be an optional, as an observable object if it is one.
///
/// The type is tested first, because a cast of a collection to a class or class-bound protocol would bridge it to Foundation's
/// class element by element before failing.
func observable(_ value: Any) -> (any KeyValueObservable)? {
  type(of: value) is AnyObject.Type ? value as? any KeyValueObservable : nil
}
