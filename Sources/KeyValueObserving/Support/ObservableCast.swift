// Values of any type as observable objects.

/// The value, whose optionals were taken off, as an observable object.
///
/// A cast to a class or its protocol has Swift bridge a collection to Foundation's, element by element, before it fails.
func observable(_ value: Any) -> (any KeyValueObservable)? {
  type(of: value) is AnyObject.Type ? value as? any KeyValueObservable : nil
}
