// Operators on several sources.
import Glibc
import Synchronization

extension KeyValueSource {
  /// Returns the source of what a function makes of the values of several sources.
  ///
  /// ```swift
  /// let sum = KeyValueSource.combineLatest(a.source(\.x), b.source(\.y), c.source(\.z)) { $0 + $1 + $2 }
  /// ```
  /// It notifies after each change of one of them, as soon as each has had a value. Of each the value that it told last counts: a filtered
  /// one keeps its last value, and so does one whose object has been deallocated, until all are. So an observation retains the objects in
  /// these values, and in the last one that the function made. An expression, which reads its values anew and retains none, is the
  /// alternative.
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
      of: { all.flatMap { $0.origins() } },
      read: {
        let latest = all.map { $0.makeLatest() }
        for (input, latest) in zip(all, latest) { input.read(latest) }
        return combine(latest)
      },
      subscribe: { request, sink in
        let (latest, turns, signal) = (all.map { $0.makeLatest() }, CombinedTurns(), SourceSignal())
        let (wantsNew, isInitial) = (request.options.contains(.new), request.isInitial)
        let last = request.wantsOld ? LastValue<Value>(nil) : nil
        func tell() {
          guard let new = combine(latest) else { return }
          sink(NSKeyValueObservedChange(kind: .setting, newValue: wantsNew ? new : nil, oldValue: last?.exchange(new)))
        }
        // What the sources tell initially is only kept.
        var observations = zip(all, latest).flatMap { input, latest in
          input.subscribe(request, latest, signal) { turns.change() }
        }
        guard !observations.isEmpty else { return [] }
        observations.append(
          signal.observe(\.changes, [], request.site, request.description) { _, _ in turns.take(tell) })
        if !isInitial, let last, let present = combine(latest) { last.setIfMissing(present) }
        turns.begin(initially: isInitial, tell)
        return observations
      })
  }

  /// Returns the source of the changes of several sources.
  ///
  /// ```swift
  /// let last = KeyValueSource.merge(search.source(\.text), history.source(\.selection))
  /// ```
  /// The old value of a change is the one that was passed on last, whichever source it came from. If values of this type may hold objects,
  /// there is none after a value of another source. With `.initial` the value of each source is passed on; a binding first sets that of the
  /// first source that has one.
  public static func merge(_ sources: KeyValueSource...) -> KeyValueSource {
    KeyValueSource(
      of: { sources.flatMap { $0.origins() } },
      read: {
        // Each is read once: by the next time its object may be gone.
        for source in sources {
          if let value = source.read() { return value }
        }
        return nil
      },
      subscribe: { request, sink in
        let options = request.options
        let last = request.wantsOld ? LastDelivered<Value>() : nil
        if let last { request.description.end?.remember(last) }
        var needed = request.with(last != nil ? [.old, .new] : options.intersection(.new), of: Value.self)
        var observations: [UInt64] = []
        // The source that passed a value last: only its own old value is that one.
        let latest = Guarded<Int?>(nil)
        for (index, source) in sources.enumerated() {
          let isTold = Flag()
          observations += source.subscribe(needed) { change in
            isTold.set()
            guard let last, let new = change.newValue else { return sink(change) }
            let isSame = latest.withLock { latest in
              defer { latest = index }
              return latest == nil || latest == index
            }
            let old = last.exchange(new) ?? (isSame ? change.oldValue : nil)
            sink(NSKeyValueObservedChange(kind: .setting, newValue: new, oldValue: old).limited(to: options))
          }
          if isTold.isSet, options.contains(.initialOfFirst) { needed.options.remove(.initial) }
        }
        return observations
      })
  }
}

/// Tells the initial value of a source from its changes: it is told in the first call on the thread that observes the source, before the
/// registration returns.
private final class InitialCall: Sendable {
  /// 0 if the call is not expected, or no longer.
  private let thread = Atomic<UInt>(CombinedTurns.thread)

  /// Returns whether the call that begins is that of the initial value.
  func begin() -> Bool {
    thread.load(ordering: .relaxed) != 0
      && thread.compareExchange(expected: CombinedTurns.thread, desired: 0, ordering: .relaxed).exchanged
  }

  /// Called when the source is observed.
  func end() { thread.store(0, ordering: .relaxed) }
}

/// Is set once, on any thread.
private final class Flag: Sendable {
  private let value = Atomic(false)

  var isSet: Bool { value.load(ordering: .acquiring) }

  func set() { if !isSet { value.store(true, ordering: .releasing) } }
}

/// What the sources that are combined set, each with a binding: bindings are settled before anyone is told, so that a change that reaches
/// several of them is told once. The bindings keep it, and the observation of it ends with the last of them.
private final class SourceSignal: KeyValueObservable, Sendable {
  let _$kvo = KeyValueObservationHeader()
  var __keyValueObject: KeyValueObjectReference { _$kvo.reference }

  static let key = KeyValueObservationHeader.key("changes")

  private let count = Atomic(0)

  /// How often it was sent.
  var changes: Int {
    get { count.load(ordering: .relaxed) }
    set {
      guard _$kvo.isObserved else { return count.store(newValue, ordering: .relaxed) }
      _$kvo.change(Self.key, { changes }, { count.store(newValue, ordering: .relaxed) })
    }
  }

  static func __describeKeyValueProperties(_ description: KeyValueClassDescription) {
    description.observed("changes", key, \SourceSignal.changes)
  }
}

/// One of several sources, without its type.
private struct CombinedInput {
  let origins: () -> [SourceOrigin]
  /// Returns a `Guarded<Value?>` for the value that is told last, without one.
  let makeLatest: () -> AnyObject
  /// Stores the present value there, unless there is one.
  let read: (_ latest: AnyObject) -> Void
  /// Registers a binding that keeps each new value and sends the signal.
  let subscribe:
    (_ request: SourceRequest, _ latest: AnyObject, _ signal: SourceSignal, _ note: @escaping () -> Void) -> [UInt64]

  init<Value>(_ source: KeyValueSource<Value>) {
    origins = source.origins
    makeLatest = { LastValue<Value>(nil).value }
    read = { latest in
      guard let present = source.read() else { return }
      LastValue(of: unsafeDowncast(latest, to: Guarded<Value?>.self)).setIfMissing(present)
    }
    subscribe = { request, latest, signal, note in
      let latest = LastValue(of: unsafeDowncast(latest, to: Guarded<Value?>.self))
      var needed = request.with(.new, of: Value.self).setting(signal, "changes")
      // Whatever the observer wants: a change that is in progress, and has not stored its value, tells who has read the old one.
      needed.options.formUnion([.initial, .initialOfFirst])
      let initial = InitialCall()
      let observations = source.subscribe(needed) { change in
        let isInitial = initial.begin()
        guard let new = change.newValue else { return }
        if isInitial { return latest.setIfMissing(new) }
        _ = latest.exchange(new)
        note()
        signal.changes &+= 1
      }
      initial.end()
      return observations
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

/// One thread at a time notifies of the values of several sources. A thread that finds another one notifying has that one do it once more,
/// and goes on: so no older values come after newer ones, and the last ones come last.
private final class CombinedTurns: Sendable {
  private struct State {
    /// The number of changes, and how many of them are in the values that were notified of last.
    var changes = 0
    var told = 0
    /// The thread that notifies, or 0. At first it is the one that registers.
    var thread = CombinedTurns.thread
  }

  private let state = Guarded(State())

  /// Called when a value has been stored.
  func change() { state.withLock { $0.changes += 1 } }

  /// Called when the sources are registered.
  func begin(initially tellsInitial: Bool, _ tell: () -> Void) {
    if tellsInitial { notify(tell) }
    while !isDone() { notify(tell) }
  }

  /// Calls a function that reads the values and notifies of them, and again while others have changed meanwhile. An observer may make
  /// changes itself, which are notified of within its call.
  func take(_ tell: () -> Void) {
    let outer = state.withLock { state in
      let outer = state.thread
      if outer == 0 { state.thread = Self.thread }
      return outer
    }
    guard outer == 0 || outer == Self.thread else { return }
    notify(tell)
    if outer == 0 { while !isDone() { notify(tell) } }
  }

  private func notify(_ tell: () -> Void) {
    state.withLock { $0.told = $0.changes }
    tell()
  }

  /// Gives the turn back, unless there are changes that nobody has been notified of.
  private func isDone() -> Bool {
    state.withLock { state in
      guard state.told == state.changes else { return false }
      state.thread = 0
      return true
    }
  }

  static var thread: UInt { UInt(pthread_self()) }
}
