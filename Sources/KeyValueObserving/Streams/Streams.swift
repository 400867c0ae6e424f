// The streams of a key path of an object.

extension KeyValueObservable {
  /// Returns the values of a property or key path, as an asynchronous sequence.
  ///
  /// ```swift
  /// for await title in document.values(of: \.title) { label.text = title }
  /// ```
  /// It begins with the present value, as Combine's `publisher(for:)` and Swift's `Observations` do; with `options: []` it begins with the
  /// first change. Each set is an element, also to an equal value unless `.distinct` is given. Of a collection the whole value is sent,
  /// however it was changed. While an array index of the key path is out of range there is no value, and nothing is sent. See
  /// ``KeyValueStream`` for the end and for several loops. Any thread. An addition of this library.
  ///
  /// - Parameters:
  ///   - keyPath: What to observe, as in ``observe(_:options:fileID:line:changeHandler:)``.
  ///   - options: `.initial`, which is the default, and ``NSKeyValueObservingOptions/distinct``. Others have no effect.
  ///   - buffering: How many values wait while the loop is busy. The default is all, so that none is missed; a loop that needs the present
  ///     value only uses `.newest(1)`.
  ///   - isolation: Where an expression is evaluated: on the actor of the code that calls, unless another one is named.
  /// - Returns: The stream. It is `Sendable` if the values are.
  @inlinable
  public nonisolated func values<Value>(
    of keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [.initial],
    buffering: KeyValueBuffering = .unbounded, isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> KeyValueStream<Value> {
    source(keyPath).values(options: options, buffering: buffering, isolation: isolation, fileID: fileID, line: line)
  }

  /// Returns the changes of a property or key path, as an asynchronous sequence.
  ///
  /// ```swift
  /// for await change in document.changes(of: \.title, options: [.old, .new], buffering: .newest(1)) { print(change.oldValue!) }
  /// ```
  /// The changes are those of ``observe(_:options:fileID:line:changeHandler:)``, with the values as they were. See ``KeyValueStream`` for
  /// the end and for several loops. Any thread. An addition of this library.
  ///
  /// - Parameters:
  ///   - keyPath: What to observe.
  ///   - options: Which values a change includes, and whether the sequence begins with the present value and has a notification before
  ///     each change.
  ///   - buffering: How many changes wait while the loop is busy. The default is all, so that none is missed.
  ///   - isolation: Where an expression is evaluated: on the actor of the code that calls, unless another one is named.
  /// - Returns: The stream. It is `Sendable` if the values are.
  @inlinable
  public nonisolated func changes<Value>(
    of keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [.old, .new],
    buffering: KeyValueBuffering = .unbounded, isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> KeyValueStream<NSKeyValueObservedChange<Value>> {
    source(keyPath).changes(options: options, buffering: buffering, isolation: isolation, fileID: fileID, line: line)
  }
}
