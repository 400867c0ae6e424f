// The streams of a source, which are those of key paths too.

extension KeyValueSource {
  /// Returns the values of the source, as an asynchronous sequence.
  ///
  /// ```swift
  /// for await title in document.source(\.title).removeDuplicates().values() { label.text = title }
  /// ```
  /// It begins with the present value, if there is one; with `options: []` it begins with the first change. See ``KeyValueStream`` for the
  /// end and for several loops: the stream of a source ends with its object, or with the last of its objects; the observation of an
  /// expression ends with the stream.
  ///
  /// - Parameters:
  ///   - options: `.initial`, which is the default, and ``NSKeyValueObservingOptions/distinct``. Others have no effect.
  ///   - buffering: How many values wait while the loop is busy. The default is all, so that none is missed.
  ///   - isolation: Where an expression is evaluated: on the actor of the code that calls, unless another one is named.
  /// - Returns: The stream. It is `Sendable` if the values are.
  @inlinable
  public func values(
    options: NSKeyValueObservingOptions = [.initial], buffering: KeyValueBuffering = .unbounded,
    isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueStream<Value> {
    let base = options.intersection([.initial, .distinct]).union(.newValue(of: Value.self))
    let (site, description) = (SourceLocation(file: fileID, line: line), ObserverDescription.stream(isolation))
    return KeyValueStream(buffering, expectsInitial: options.contains(.initial)) { channel in
      let observations = register(base, site, description) { change in
        if let value = change.newValue { channel.send(value) { $0.last } }
      }
      return .keeping(observations)
    }
  }

  /// Returns the changes of the source, as an asynchronous sequence.
  ///
  /// They have old and new values. See ``values(options:buffering:isolation:fileID:line:)``.
  ///
  /// - Parameters:
  ///   - options: Those of ``observe(options:for:userInfo:isolation:fileID:line:handler:)``.
  ///   - buffering: How many changes wait while the loop is busy. The default is all, so that none is missed.
  ///   - isolation: Where an expression is evaluated: on the actor of the code that calls, unless another one is named.
  /// - Returns: The stream. It is `Sendable` if the values are.
  @inlinable
  public func changes(
    options: NSKeyValueObservingOptions = [.old, .new], buffering: KeyValueBuffering = .unbounded,
    isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueStream<NSKeyValueObservedChange<Value>> {
    let (site, description) = (SourceLocation(file: fileID, line: line), ObserverDescription.stream(isolation))
    return KeyValueStream(buffering, expectsInitial: options.contains(.initial)) { channel in
      .keeping(register(options, site, description) { change in channel.send(change) { change.ifInitial(after: $0) } })
    }
  }
}

extension ObserverDescription {
  /// What reports and the graph say about the observation of a stream.
  @usableFromInline
  static func stream(_ isolation: (any Actor)?) -> ObserverDescription {
    ObserverDescription(receiver: nil, note: "stream", evaluator: isolation.map { ActorGate($0) })
  }
}
