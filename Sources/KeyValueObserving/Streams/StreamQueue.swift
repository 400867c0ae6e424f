// What waits for one iterator of a stream: elements, or its task.

/// An element for a task that awaits it, or `nil` at the end. That the task may have it is checked where the stream is made.
@usableFromInline
struct StreamElement<Element>: @unchecked Sendable {
  @usableFromInline let element: Element?

  @inlinable
  init(_ element: Element?) { self.element = element }
}

@usableFromInline
typealias StreamContinuation<Element> = UnsafeContinuation<StreamElement<Element>, Never>

/// Elements that wait for an iterator, or tasks that await one. It is used only while the lock of its channel is held.
@usableFromInline
final class StreamQueue<Element>: @unchecked Sendable {
  @usableFromInline var waiting: WaitingElements<Element>
  /// One, unless copies of the iterator are used by several tasks of an actor.
  @usableFromInline var awaiting: [StreamContinuation<Element>] = []
  @usableFromInline var isClosed = false

  @inlinable
  init(_ waiting: WaitingElements<Element>) { self.waiting = waiting }

  /// Adds an element, or takes the task that is to be resumed with it.
  @inlinable
  func add(_ element: Element, _ outcomes: inout Outcomes<Element>) {
    guard awaiting.isEmpty else { return outcomes.resumed.append(awaiting.removeFirst()) }
    if let dropped = waiting.append(element) { outcomes.dropped.append(dropped) }
  }

  /// Adds the initial element as the first one. There is no iterator yet.
  @inlinable
  func begin(with element: Element, _ merged: ([Element]) -> Element?, _ outcomes: inout Outcomes<Element>) {
    var before: [Element] = []
    while let element = waiting.takeFirst() { before.append(element) }
    let all = merged(before).map { [$0] } ?? [element] + before
    outcomes.dropped += before
    for each in all { add(each, &outcomes) }
  }

  func takeAwaiting() -> [StreamContinuation<Element>] {
    defer { awaiting = [] }
    return awaiting
  }
}

/// What is left to do after an element was added to the queues.
@usableFromInline
struct Outcomes<Element> {
  @usableFromInline var resumed: [StreamContinuation<Element>] = []
  @usableFromInline var dropped: [Element] = []

  @inlinable
  init() {}

  @inlinable
  func resume(with element: Element) {
    for continuation in resumed { continuation.resume(returning: StreamElement(element)) }
  }
}
