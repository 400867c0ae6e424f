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
  /// For any one of their objects, it ends the observation of several sources: of the others as soon as no call of an observer of this
  /// object is in progress. An expression is an observation of no object: its token ends it, or ``stopObservingAll(for:fileID:line:)``.
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

  /// Ends the observations of a string key path of this object that were made for a receiver.
  ///
  /// ```swift
  /// document.stopObserving("author.name", for: window)
  /// ```
  ///
  /// See ``stopObserving(_:for:fileID:line:)-(KeyPath<Self,Value>,_,_,_)``. A typed key path and its string name the same observations.
  public nonisolated func stopObserving(
    _ keyPath: String, for receiver: AnyObject, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    keyPath.withCString { endAll(of: receiver, $0, SourceLocation(file: fileID, line: line)) }
  }

  private nonisolated func endAll(of receiver: AnyObject, _ keyPath: UnsafePointer<CChar>?, _ site: SourceLocation) {
    let address = Unmanaged.passUnretained(receiver).toOpaque()
    _ = kvo_binding_end_all(adoptedObject, address, keyPath, true, site.cFile, site.cLine)
  }
}

/// Ends all observations that were made for a receiver, of all objects.
///
/// ```swift
/// stopObservingAll(for: window)
/// ```
///
/// Its bindings are among them. Observations with a token only, and those of the classic API, are not. After it returns, no new call
/// of their handlers begins, as after ``NSKeyValueObservation/invalidate()``. It searches all observations of the process, of which other
/// threads cannot register or remove any meanwhile: with many, prefer ``KeyValueObservable/stopObserving(for:fileID:line:)``. Any thread.
/// An addition of this library, known from FBKVOController.
public func stopObservingAll(for receiver: AnyObject, fileID: StaticString = #fileID, line: UInt = #line) {
  let (address, site) = (Unmanaged.passUnretained(receiver).toOpaque(), SourceLocation(file: fileID, line: line))
  _ = kvo_binding_end_all(nil, address, nil, true, site.cFile, site.cLine)
}

/// Returns the name of a key path of an object, as its observations have it. Not a method: it would hide dynamic members.
package func nameOfObserved<Object: KeyValueObservable, Value>(_ keyPath: KeyPath<Object, Value>, of object: Object)
  -> String
{
  object.name(ofObserved: keyPath)
}
