// The elements of a stream on their way from an observation to the iterators.

/// Takes elements from an observation, on any thread, and keeps them for the iterators of one stream.
///
/// The observation's closure holds it, and so do the stream and its iterators. It ends the observation with the last iterator,
/// or with the stream if there was none.
/// It does not know what is observed: the observation is a token.
@usableFromInline
final class StreamChannel<Element>: @unchecked Sendable {
  @usableFromInline
  struct State {
    /// Those of the iterators, and of the first one before it is made.
    @usableFromInline var queues: [StreamQueue<Element>]
    /// The queue of the first iterator, until it is made.
    @usableFromInline var unused: StreamQueue<Element>?
    /// Whether an iterator has taken an element.
    @usableFromInline var isStarted = false
    /// Whether the observation has ended. What waits is still taken.
    @usableFromInline var isFinished = false
    /// Set when it is registered, and taken when it is ended.
    var observation: NSKeyValueObservation?
  }

  @usableFromInline let state: Guarded<State>
  private let buffering: KeyValueBuffering
  @usableFromInline let initial: InitialValue

  /// - Parameters:
  ///   - expectsInitial: Whether this thread is about to send the initial value, which comes first whatever other threads send.
  ///   - subscribe: Makes the observation, whose closure is to send to the channel.
  @usableFromInline
  init(
    _ buffering: KeyValueBuffering, expectsInitial: Bool, subscribe: (StreamChannel) -> NSKeyValueObservation
  ) {
    self.buffering = buffering
    initial = InitialValue(isExpected: expectsInitial)
    let queue = StreamQueue<Element>(WaitingElements(buffering))
    state = Guarded(State(queues: [queue], unused: queue))
    let observation = subscribe(self)
    initial.end()
    state.withLock { if !$0.isFinished { $0.observation = observation } }
    observation.onEnd { [self] _ in finish() }
  }

  /// Hands an element to each iterator that awaits one, and keeps it for the others.
  ///
  /// - Parameter merged: Makes an initial element of it and those that other threads have sent before; `nil` if they stay.
  @inlinable
  func send(_ element: Element, merged: ([Element]) -> Element?) {
    // Elements are released, and tasks resumed, when the lock is not held.
    var outcomes = Outcomes<Element>()
    state.withLock { state in
      let isInitial = initial.isNext()
      for queue in state.queues {
        if isInitial { queue.begin(with: element, merged, &outcomes) } else { queue.add(element, &outcomes) }
      }
    }
    outcomes.resume(with: element)
  }

  /// No more elements come.
  private func finish() {
    let awaiting = state.withLock { state in
      state.isFinished = true
      state.observation = nil
      return state.queues.flatMap { $0.takeAwaiting() }
    }
    for continuation in awaiting { continuation.resume(returning: StreamElement(nil)) }
  }

  /// Returns the queue of a new iterator: the first one's, or another one. What was sent before the first element was taken waits in
  /// each.
  func makeQueue() -> StreamQueue<Element> {
    state.withLock { state in
      if let unused = state.unused {
        state.unused = nil
        return unused
      }
      let started = state.isStarted || state.queues.isEmpty
      let queue = StreamQueue(started ? WaitingElements(buffering) : state.queues[0].waiting)
      if state.observation == nil { queue.isClosed = true } else { state.queues.append(queue) }
      return queue
    }
  }

  /// Takes the next element if there is one, or knows that there will be none.
  @inlinable
  func take(from queue: StreamQueue<Element>) -> StreamNext<Element> {
    state.withLock { state in
      state.isStarted = true
      if queue.isClosed { return .end }
      if let element = queue.waiting.takeFirst() { return .element(element) }
      return state.isFinished ? .end : .later
    }
  }

  /// Resumes a task with the next element, at once or later.
  @usableFromInline
  func take(from queue: StreamQueue<Element>, for continuation: StreamContinuation<Element>) {
    let next = state.withLock { state -> StreamNext<Element> in
      if queue.isClosed { return .end }
      if let element = queue.waiting.takeFirst() { return .element(element) }
      if state.isFinished { return .end }
      queue.awaiting.append(continuation)
      return .later
    }
    switch next {
    case .element(let element): continuation.resume(returning: StreamElement(element))
    case .end: continuation.resume(returning: StreamElement(nil))
    case .later: break
    }
  }

  /// Ends a queue, whose iterator was released or cancelled, and with the last one the observation. What waits is dropped.
  @usableFromInline
  func close(_ queue: StreamQueue<Element>) {
    let (dropped, awaiting, observation) = state.withLock { state in
      queue.isClosed = true
      state.queues.removeAll { $0 === queue }
      let dropped = queue.waiting
      queue.waiting = WaitingElements(buffering)
      return (dropped, queue.takeAwaiting(), state.queues.isEmpty ? state.observation.take() : nil)
    }
    withExtendedLifetime(dropped) {
      for continuation in awaiting { continuation.resume(returning: StreamElement(nil)) }
      observation?.invalidate()
    }
  }

  /// The stream was released: an iterator that was not made yet will not be made.
  func closeUnused() {
    if let queue = state.withLock({ $0.unused.take() }) { close(queue) }
  }
}

/// What an iterator finds when it looks for the next element.
@usableFromInline
enum StreamNext<Element> {
  case element(Element)
  case later
  case end
}
