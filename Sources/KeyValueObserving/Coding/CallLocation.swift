// The source location of a call of key-value coding or of an announcement, for faults in the methods it calls.

import CKVO

/// A call of key-value coding or of an announcement in progress on this thread, and the object it is accessing.
///
/// `value(forKey:)`, `willChangeValue(forKey:)` and similar methods can be overridden and have no parameters for a source location.
/// If a fault concerns the object and the key that the call is accessing, its source location is that of the call.
final class CallLocation {
  private let site: SourceLocation
  private let path: CodedPath?
  private let keys: [String]
  private var asked: ObjectIdentifier?

  /// - Parameters:
  ///   - path: The keys that may be read or set of the objects.
  ///   - keys: The same without a path.
  init(_ site: SourceLocation, _ path: CodedPath?, keys: [String] = []) {
    self.site = site
    self.path = path
    self.keys = keys
  }

  /// Creates the location of a call that accesses one key of one object.
  convenience init(_ site: SourceLocation, _ object: AnyObject, key: String) {
    self.init(site, .key(key))
    asked = ObjectIdentifier(object)
  }

  /// Notes that the object is accessed next.
  func ask(_ object: AnyObject) { asked = ObjectIdentifier(object) }

  /// Calls a function while this is the current call of the thread.
  func isPresent<Result, Failure: Error>(in body: () throws(Failure) -> Result) throws(Failure) -> Result {
    let outer = kvo_thread_exchange(KVO_THREAD_CODING, Unmanaged.passUnretained(self).toOpaque())
    defer { _ = kvo_thread_exchange(KVO_THREAD_CODING, outer) }
    return try body()
  }

  /// Returns the source location of the call that is accessing a key of a value, if there is one.
  static func site(of receiver: Any, key: String) -> SourceLocation? {
    guard let present, type(of: receiver) is AnyObject.Type else { return nil }
    return present.site(of: receiver as AnyObject, key)
  }

  /// Does the same for an object.
  static func site(ofObject object: AnyObject, key: String) -> SourceLocation? { present?.site(of: object, key) }

  private func site(of object: AnyObject, _ key: String) -> SourceLocation? {
    asked == ObjectIdentifier(object) && (path?.contains(key) ?? keys.contains(key)) ? site : nil
  }

  private static var present: CallLocation? {
    let pointer = kvo_thread_exchange(KVO_THREAD_CODING, nil)
    _ = kvo_thread_exchange(KVO_THREAD_CODING, pointer)
    return pointer.map { Unmanaged<CallLocation>.fromOpaque($0).takeUnretainedValue() }
  }
}
