// Where in the source key-value coding, or an announcement, was called, for faults that come up in what that calls in turn.

import CKVO

/// A call of key-value coding, or of an announcement, in progress on this thread, and which object it is just asking.
///
/// `value(forKey:)`, `willChangeValue(forKey:)` and their like are overridden, and have no parameter for it. A fault about the
/// object and a key that a call with a place is asking is that call's.
final class CallLocation {
  private let site: SourceLocation
  private let key: String?
  private let keys: ArraySlice<String>
  private var asked: ObjectIdentifier?

  /// - Parameter keys: What objects on the way may be asked for.
  init(_ site: SourceLocation, keys: ArraySlice<String>) {
    self.site = site
    self.keys = keys
    key = nil
  }

  /// Of a call that asks one object for one key.
  init(_ site: SourceLocation, _ object: AnyObject, key: String) {
    self.site = site
    self.key = key
    keys = []
    asked = ObjectIdentifier(object)
  }

  /// The object is going to be asked.
  func ask(_ object: AnyObject) { asked = ObjectIdentifier(object) }

  /// Runs a function while this is the thread's call.
  func isPresent<Result, Failure: Error>(in body: () throws(Failure) -> Result) throws(Failure) -> Result {
    let outer = kvo_thread_exchange(KVO_THREAD_CODING, Unmanaged.passUnretained(self).toOpaque())
    defer { _ = kvo_thread_exchange(KVO_THREAD_CODING, outer) }
    return try body()
  }

  /// The place of the call that is asking this value for a key, if it has one.
  static func site(of receiver: Any, key: String) -> SourceLocation? {
    guard let present, type(of: receiver) is AnyObject.Type else { return nil }
    return present.site(of: receiver as AnyObject, key)
  }

  /// The same of an object.
  static func site(ofObject object: AnyObject, key: String) -> SourceLocation? { present?.site(of: object, key) }

  private func site(of object: AnyObject, _ key: String) -> SourceLocation? {
    asked == ObjectIdentifier(object) && (self.key == key || keys.contains(key)) ? site : nil
  }

  private static var present: CallLocation? {
    let pointer = kvo_thread_exchange(KVO_THREAD_CODING, nil)
    _ = kvo_thread_exchange(KVO_THREAD_CODING, pointer)
    return pointer.map { Unmanaged<CallLocation>.fromOpaque($0).takeUnretainedValue() }
  }
}
