// Operators on several sources.

extension KeyValueSource {
  /// Returns the source of what a function makes of the values of several sources.
  ///
  /// ```swift
  /// let sum = KeyValueSource.combineLatest(a.source(\.x), b.source(\.y), c.source(\.z)) { $0 + $1 + $2 }
  /// ```
  /// It notifies after each change of one of them, as soon as each has had a value. Of each the value that it told last counts: a filtered
  /// one keeps its last value, and so does one whose object has been deallocated, until all are. An expression, which reads its values
  /// anew, is the alternative.
  ///
  /// - Parameters:
  ///   - sources: The sources, any number, of any types.
  ///   - transform: Is called with all values, on the thread that makes the change.
  public static func combineLatest<each Input>(
    _ sources: repeat KeyValueSource<each Input>, transform: @escaping @Sendable (repeat each Input) -> Value
  ) -> KeyValueSource {
    var inputs: [CombinedInput] = []
    for source in repeat each sources { inputs.append(CombinedInput(source)) }
    // Arrays, because closures that capture tuples of packs are miscompiled (Swift 6.2).
    let all = inputs
    let combine: ([AnyObject]) -> Value? = { latest in combined(latest, by: transform) }
    return KeyValueSource(
      of: { all.flatMap { $0.origins() } }, read: { combine(all.map { $0.makeLatest() }) },
      subscribe: { request, sink in
        let latest = all.map { $0.makeLatest() }
        let (wantsNew, isInitial) = (request.options.contains(.new), request.isInitial)
        let last = request.wantsOld ? LastValue(isInitial ? nil : combine(latest)) : nil
        func tell() {
          guard let new = combine(latest) else { return }
          sink(NSKeyValueObservedChange(kind: .setting, newValue: wantsNew ? new : nil, oldValue: last?.exchange(new)))
        }
        var observations: [UInt64] = []
        for (input, latest) in zip(all, latest) { observations += input.subscribe(request, latest, tell) }
        if isInitial, !observations.isEmpty { tell() }
        return observations
      })
  }

  /// Returns the source of the changes of several sources.
  ///
  /// ```swift
  /// let last = KeyValueSource.merge(search.source(\.text), history.source(\.selection))
  /// ```
  /// The old value of a change is the one that was told last, whichever source it came from. With `.initial` the value of each source is
  /// told.
  @inlinable
  public static func merge(_ sources: KeyValueSource...) -> KeyValueSource {
    KeyValueSource(
      of: { sources.flatMap { $0.origins() } },
      read: { sources.lazy.compactMap { $0.read() }.first },
      subscribe: { request, sink in
        let options = request.options
        let last = request.wantsOld ? LastValue<Value>(nil) : nil
        var observations: [UInt64] = []
        for source in sources {
          observations += source.subscribe(
            request.with(last != nil ? [.old, .new] : options.intersection(.new), of: Value.self)
          ) {
            change in
            guard let last, let new = change.newValue else { return sink(change) }
            let old = last.exchange(new) ?? change.oldValue
            sink(NSKeyValueObservedChange(kind: .setting, newValue: new, oldValue: old).limited(to: options))
          }
        }
        return observations
      })
  }
}

/// One of several sources, without its type.
private struct CombinedInput {
  let origins: () -> [SourceOrigin]
  /// Returns a `Guarded<Value?>` for the value that is told last, with the present value.
  let makeLatest: () -> AnyObject
  /// Registers an observer that keeps each new value.
  let subscribe: (_ request: SourceRequest, _ latest: AnyObject, _ tell: @escaping () -> Void) -> [UInt64]

  init<Value>(_ source: KeyValueSource<Value>) {
    origins = source.origins
    makeLatest = { LastValue(source.read()).value }
    subscribe = { request, latest, tell in
      let latest = LastValue(of: unsafeDowncast(latest, to: Guarded<Value?>.self))
      var needed = request.with(.new, of: Value.self)
      needed.options.remove(.initial)
      return source.subscribe(needed) { change in
        guard let new = change.newValue else { return }
        _ = latest.exchange(new)
        tell()
      }
    }
  }
}

/// Calls a function with all values, unless one of them is missing.
private func combined<each Input, Value>(_ latest: [AnyObject], by transform: (repeat each Input) -> Value) -> Value? {
  var index = 0
  func next<Each>(_: Each.Type) throws(Missing) -> Each {
    defer { index += 1 }
    guard let value = LastValue(of: unsafeDowncast(latest[index], to: Guarded<Each?>.self)).load() else {
      throw Missing()
    }
    return value
  }
  do { return transform(repeat try next((each Input).self)) } catch { return nil }
}

private struct Missing: Error {}
