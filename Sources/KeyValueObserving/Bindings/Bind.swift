// One-way bindings.

public import CKVO

/// What bindings have in common.
public enum KeyValueBinding {
  /// Whether a one-way binding sets its target when it is made.
  public enum Initially: Sendable {
    /// The target takes the source's present value, through this binding alone.
    case set
    /// The target is first set at the next change of the source.
    case wait
  }

  /// Which side of a two-way binding is set when it is made.
  public enum TwoWayInitially: Sendable {
    /// The property on the left, of the object that `bindTwoWay` is called on, takes the value of the one on the right.
    case set
    /// The property on the right takes the value of the one on the left.
    case fromLeft
    /// None. They may differ until the next change of one of them.
    case wait
  }
}

extension KeyValueSource {
  /// Sets a property to the value of this source, now and after each change.
  ///
  /// ```swift
  /// document.source(\.title).map(\.capitalized).bind(to: window, \.caption)
  /// ```
  /// The binding is an observation whose receiver is the target. It retains neither side, and ends with either, when it is ended with the
  /// token, or with ``KeyValueObservable/unbind(_:)``. Filters and conversions are applied in the order in which they are written.
  ///
  /// Isolation and threads are those of ``observe(options:for:userInfo:isolation:fileID:line:handler:)``: code of an actor has the target
  /// set on that actor, at once after a change that is made there, and in order, later, after one that is made elsewhere. In nonisolated
  /// code the target is set on the thread that makes the change, before the setter of the source returns.
  ///
  /// Bindings are settled before any observer is notified: a change sets all targets first, each binding after those that set what it
  /// reads. Then the observers of everything that has changed are notified, each once. A value that the target has already is not set:
  /// objects are compared by identity, other values by `==`, and those that are not `Equatable` by their bytes.
  ///
  /// A property may be the target of several bindings; the latest change wins. A cycle of bindings ends as soon as no value differs; if
  /// that never happens, it is fault KVO0024, which names them all, and all properties keep their last values. Values that cannot be
  /// compared go around a cycle a few times only.
  ///
  /// If another thread is settling the binding, the setter may return before that thread has set the target, to the last value.
  ///
  /// An addition of this library. (YJSafeKVO: `bound`; Combine: `assign(to:on:)`, which retains the target.)
  ///
  /// - Parameters:
  ///   - target: The object whose property is set. It is not retained.
  ///   - keyPath: The property.
  ///   - initially: Whether the property is also set now.
  ///   - exclusive: Whether this binding ends the other ones into the property. That is fault KVO0019, an info, which tells of each.
  ///   - applied: Is called after each time the property was set by this binding.
  /// - Returns: The token, whose release ends nothing.
  // A member of a KeyValueRuntimeObject may have either type: the optional one can be read if it is nil.
  @_disfavoredOverload
  @inlinable
  @discardableResult
  public func bind<Target: AnyObject>(
    to target: Target, _ keyPath: ReferenceWritableKeyPath<Target, Value>,
    initially: KeyValueBinding.Initially = .set, exclusive: Bool = false, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line, applied: (() -> Void)? = nil
  ) -> NSKeyValueObservation {
    let site = SourceLocation(file: fileID, line: line)
    let origin = SourceOrigin(target, name(of: keyPath, in: target))
    let binding = OneWayBinding(target, BoundProperty(keyPath, in: target), applied, read)
    if exclusive { BindingTable.replace(origin, by: origins(), site) }
    let token = binding.token
    BindingTable.add(token, origin, from: origins())
    receive(
      options(of: initially), for: target, on: isolation, site, bindingNote(origin), binding,
      sets: boundKey(origin, of: target)
    ) {
      binding.changed($0)
    } handler: {
      binding.changed(to: $0)
    }
    return token
  }

  /// Returns the options of a binding, which first sets one value, also if several sources have one.
  @inlinable
  func options(of initially: KeyValueBinding.Initially) -> NSKeyValueObservingOptions {
    guard initially == .set else { return .new }
    return isOfKeyPath ? [.new, .initial] : [.new, .initial, .initialOfFirst]
  }

  /// Sets an optional property to the value of this source, now and after each change.
  ///
  /// See ``bind(to:_:initially:exclusive:isolation:fileID:line:applied:)-(Target,ReferenceWritableKeyPath<Target,Value>,_,_,_,_,_,_)``.
  @inlinable
  @discardableResult
  public func bind<Target: AnyObject>(
    to target: Target, _ keyPath: ReferenceWritableKeyPath<Target, Value?>,
    initially: KeyValueBinding.Initially = .set, exclusive: Bool = false, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line, applied: (() -> Void)? = nil
  ) -> NSKeyValueObservation {
    map { Optional.some($0) }.bind(
      to: target, keyPath, initially: initially, exclusive: exclusive, isolation: isolation, fileID: fileID, line: line,
      applied: applied)
  }
}

extension KeyValueObservable {
  /// Sets a property of this object to the value of an expression, now and after each change of what it reads.
  ///
  /// ```swift
  /// window.bind(\.caption) { "\(document.title) (\(document.pages))" }
  /// ```
  /// As
  /// ``KeyValueSource/bind(to:_:initially:exclusive:isolation:fileID:line:applied:)-(_,ReferenceWritableKeyPath<Target,Value>,_,_,_,_,_,_)``,
  /// from ``KeyValueSource/init(isolation:fileID:line:_:)``.
  /// The binding holds what the expression captures. One that captures the object itself keeps it until the binding is ended; let it
  /// capture that as `unowned`. It is not evaluated when an object dies that it has captured.
  ///
  /// - Parameters:
  ///   - keyPath: The property.
  ///   - initially: Whether the property is also set now.
  ///   - exclusive: Whether this binding ends the other ones into the property.
  ///   - applied: Is called after each time the property was set by this binding.
  ///   - expression: The closure to evaluate.
  /// - Returns: The token, whose release ends nothing.
  // As for a source.
  @_disfavoredOverload
  @inlinable
  @discardableResult
  public func bind<Value>(
    _ keyPath: ReferenceWritableKeyPath<Self, Value>, initially: KeyValueBinding.Initially = .set,
    exclusive: Bool = false, isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line, applied: (() -> Void)? = nil, to expression: @escaping () -> Value
  ) -> NSKeyValueObservation {
    KeyValueSource(isolation: isolation, fileID: fileID, line: line, expression).bind(
      to: self, keyPath, initially: initially, exclusive: exclusive, isolation: isolation, fileID: fileID, line: line,
      applied: applied)
  }

  /// Sets an optional property of this object to the value of an expression, now and after each change of what it reads.
  ///
  /// See ``bind(_:initially:exclusive:isolation:fileID:line:applied:to:)-(ReferenceWritableKeyPath<Self,Value>,_,_,_,_,_,_,_)``.
  @inlinable
  @discardableResult
  public func bind<Value>(
    _ keyPath: ReferenceWritableKeyPath<Self, Value?>, initially: KeyValueBinding.Initially = .set,
    exclusive: Bool = false, isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line, applied: (() -> Void)? = nil, to expression: @escaping () -> Value?
  ) -> NSKeyValueObservation {
    KeyValueSource(isolation: isolation, fileID: fileID, line: line, expression).bind(
      to: self, keyPath, initially: initially, exclusive: exclusive, isolation: isolation, fileID: fileID, line: line,
      applied: applied)
  }
}

@usableFromInline
func boundKey(_ origin: SourceOrigin, of target: AnyObject) -> BoundKey { BoundKey(target, origin.key) }

/// What reports and the graph say about a binding.
@usableFromInline
func bindingNote(_ target: SourceOrigin) -> BindingNote { BindingNote(key: target.key) }

/// What reports and the graph say about a binding.
@usableFromInline
struct BindingNote: Sendable, CustomStringConvertible {
  let key: String
  @usableFromInline var description: String { "binding of \"\(key)\"" }
}

/// Returns the name of a property, for reports and for the end of bindings.
@usableFromInline
func name<Root: AnyObject, Value>(of keyPath: KeyPath<Root, Value>, in object: Root) -> String {
  // Of the class of the key path: the object's own may be a subclass.
  func named<Known: KeyValueObservable>(_: Known.Type) -> String? {
    guard let object = object as? Known, let keyPath = keyPath as? KeyPath<Known, Value> else { return nil }
    return object.name(ofObserved: keyPath)
  }
  return (Root.self as? any KeyValueObservable.Type).flatMap { named($0) } ?? KeyPathComponent.printedName(of: keyPath)
}
