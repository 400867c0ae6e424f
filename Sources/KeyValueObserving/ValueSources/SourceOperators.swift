// Operators on one source.

extension KeyValueSource {
  /// Returns the source of the values that a function makes of this source's values.
  ///
  /// ```swift
  /// let shown = document.source(\.title).map { $0.uppercased() }
  /// ```
  /// - Parameter transform: Is called for each value that an observer requests, old and new, on the thread that makes the change.
  @inlinable
  public func map<Result>(_ transform: @escaping @Sendable (Value) -> Result) -> KeyValueSource<Result> {
    let (read, subscribe) = (read, subscribe)
    return KeyValueSource<Result>(
      of: origins, read: { read().map(transform) },
      subscribe: { request, sink in
        subscribe(request.with(request.options.intersection([.old, .new]), of: Value.self)) { change in
          sink(
            NSKeyValueObservedChange(
              kind: .setting, newValue: change.newValue.map(transform), oldValue: change.oldValue.map(transform)))
        }
      })
  }

  /// Returns the source of the values that a function makes of this source's values, unless it returns `nil`.
  ///
  /// ```swift
  /// let number = field.source(\.text).compactMap { Int($0) }
  /// ```
  /// A value for which it returns `nil` is not told. The old value of a change is then the one that was told last, and `nil` if there was
  /// none.
  ///
  /// - Parameter transform: Is called for each new value, on the thread that makes the change.
  @inlinable
  public func compactMap<Result>(_ transform: @escaping @Sendable (Value) -> Result?) -> KeyValueSource<Result> {
    let (read, subscribe) = (read, subscribe)
    return KeyValueSource<Result>(
      of: origins, read: { read().flatMap(transform) },
      subscribe: { request, sink in
        let last = request.wantsOld ? LastValue(request.isInitial ? nil : read().flatMap(transform)) : nil
        let wantsNew = request.options.contains(.new)
        return subscribe(request.with(.new, of: Value.self)) { change in
          guard let new = change.newValue.flatMap(transform) else { return }
          sink(NSKeyValueObservedChange(kind: .setting, newValue: wantsNew ? new : nil, oldValue: last?.exchange(new)))
        }
      })
  }

  /// Returns the source of the values that satisfy a condition.
  ///
  /// ```swift
  /// let shown = document.source(\.title).filter { !$0.isEmpty }
  /// ```
  /// Other values are not told. The old value of a change is the one that was told last, and `nil` if there was none.
  ///
  /// - Parameter isIncluded: Is called for each new value, on the thread that makes the change.
  @inlinable
  public func filter(_ isIncluded: @escaping @Sendable (Value) -> Bool) -> KeyValueSource {
    compactMap { isIncluded($0) ? $0 : nil }
  }

  /// Returns the source of the values that differ from the one before: the one that was told last, which is the old value of a change.
  /// The limits of ``NSKeyValueObservingOptions/distinct`` apply.
  ///
  /// - Parameter areEqual: Returns whether two values count as equal. It is called for each change, on the thread that makes it.
  @inlinable
  public func removeDuplicates(by areEqual: @escaping @Sendable (Value, Value) -> Bool) -> KeyValueSource {
    withoutDuplicates(areEqual)
  }

  @inlinable
  func withoutDuplicates(_ areEqual: @escaping (Value, Value) -> Bool) -> KeyValueSource {
    let (read, subscribe) = (read, subscribe)
    return KeyValueSource(
      of: origins, read: read,
      subscribe: { request, sink in
        let options = request.options
        let duplicates = Duplicates<Value>(after: { request.isInitial ? nil : read() })
        return subscribe(request.with([.old, .new], of: Value.self)) { change in
          if let told = duplicates.told(change, areEqual) { sink(told.limited(to: options)) }
        }
      })
  }
}

extension KeyValueSource where Value: Equatable {
  /// Returns the source of the values that differ from the one before.
  ///
  /// ```swift
  /// let shown = document.source(\.title).removeDuplicates()
  /// ```
  @inlinable
  public func removeDuplicates() -> KeyValueSource { withoutDuplicates(==) }
}
