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
  /// A value for which it returns `nil` is left out. The old value of a change is then the one that was passed on last, and `nil` if there
  /// was none. A value that may hold an object is not kept for that, and `resume()` forgets what was kept: the old value is then what the
  /// function makes of this source's old value. So after a value that is left out, an observer may get one that is equal to its last.
  ///
  /// - Parameter transform: Is called for each new value, and for an old one that was not kept, on the thread that makes the change.
  @inlinable
  public func compactMap<Result>(_ transform: @escaping @Sendable (Value) -> Result?) -> KeyValueSource<Result> {
    let (read, subscribe) = (read, subscribe)
    return KeyValueSource<Result>(
      of: origins, read: { read().flatMap(transform) },
      subscribe: { request, sink in
        let last = request.wantsOld ? LastDelivered { request.isInitial ? nil : read().flatMap(transform) } : nil
        if let last { request.description.end?.remember(last) }
        return subscribe(request.with(last == nil ? .new : [.old, .new], of: Value.self)) { change in
          guard let new = change.newValue.flatMap(transform) else { return }
          let old = last.flatMap { $0.exchange(new) ?? change.oldValue.flatMap(transform) }
          sink(NSKeyValueObservedChange(kind: .setting, newValue: new, oldValue: old).limited(to: request.options))
        }
      })
  }

  /// Returns the source of the values that satisfy a condition.
  ///
  /// ```swift
  /// let shown = document.source(\.title).filter { !$0.isEmpty }
  /// ```
  /// Other values are left out. The old value of a change is that of ``compactMap(_:)``.
  ///
  /// - Parameter isIncluded: Is called as the function of ``compactMap(_:)``.
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
        request.description.end?.remember(duplicates.last)
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
