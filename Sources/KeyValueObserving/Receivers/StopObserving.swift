// The end of a receiver's observations by hand.

import CKVO

extension KeyValueObservable {
  /// Ends the observations of a key path of this object that were made for a receiver.
  ///
  /// ```swift
  /// document.stopObserving(\.title, for: window)
  /// ```
  ///
  /// Key paths that differ only in how they go on from an optional, `?` or `!`, count as one. Does nothing if there is none. Observations
  /// with a token only, and those of the classic API, are not ended. After it returns, no new call of their handlers begins, as after
  /// ``NSKeyValueObservation/invalidate()``. Any thread. An addition of this library.
  public nonisolated func stopObserving<Value>(
    _ keyPath: KeyPath<Self, Value>, for receiver: AnyObject, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    name(ofObserved: keyPath).withCString { endAll(of: receiver, $0, SourceLocation(file: fileID, line: line)) }
  }

  /// Ends all observations of this object that were made for a receiver.
  ///
  /// ```swift
  /// document.stopObserving(for: window)
  /// ```
  ///
  /// See ``stopObserving(_:for:fileID:line:)``.
  public nonisolated func stopObserving(
    for receiver: AnyObject, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    endAll(of: receiver, nil, SourceLocation(file: fileID, line: line))
  }

  /// Returns the key path's name, as its observations have it.
  @usableFromInline
  nonisolated func name<Value>(ofObserved keyPath: KeyPath<Self, Value>) -> String {
    property(at: keyPath)?.name ?? ExpressionPath(keyPath).name(in: self)
  }

  private nonisolated func endAll(of receiver: AnyObject, _ keyPath: UnsafePointer<CChar>?, _ site: SourceLocation) {
    let address = Unmanaged.passUnretained(receiver).toOpaque()
    _ = kvo_binding_end_all(adoptedObject, address, keyPath, true, site.cFile, site.cLine)
  }
}

/// Returns the name of a key path of an object, as its observations have it. Not a method: it would hide dynamic members.
package func nameOfObserved<Object: KeyValueObservable, Value>(_ keyPath: KeyPath<Object, Value>, of object: Object)
  -> String
{
  object.name(ofObserved: keyPath)
}
