// How much waits for an iterator, and the queue in which it waits.

/// How many elements of a stream wait for the loop that awaits them.
///
/// ```swift
/// for await pages in document.values(of: \.pages, buffering: .newest(1)) { await upload(pages) }
/// ```
/// An element waits while the loop is busy with an earlier one. An iterator that is awaiting gets it at once, whatever the limit.
public enum KeyValueBuffering: Sendable, Hashable {
  /// All wait: nothing is missed, and the memory grows while changes are made faster than the loop takes them.
  case unbounded
  /// The newest wait, at most this many. What is older is dropped. With 0 nothing waits.
  case newest(Int)
  /// The oldest wait, at most this many. What is newer is dropped. With 0 nothing waits.
  case oldest(Int)

  @inlinable var limit: Int {
    switch self {
    case .unbounded: .max
    case .newest(let limit), .oldest(let limit): limit
    }
  }
}

/// The elements that wait for one iterator: a queue in a ring of slots.
@usableFromInline
struct WaitingElements<Element> {
  @usableFromInline let buffering: KeyValueBuffering
  /// Their number is a power of two, or 0.
  @usableFromInline var slots: [Element?] = []
  @usableFromInline var first = 0
  @usableFromInline var count = 0

  @inlinable
  init(_ buffering: KeyValueBuffering) { self.buffering = buffering }

  /// Adds an element as the last one. Returns the element that is dropped, if there is one, so that the caller releases it.
  @inlinable
  mutating func append(_ element: Element) -> Element? {
    guard count >= buffering.limit else {
      add(element)
      return nil
    }
    guard case .newest = buffering, let oldest = takeFirst() else { return element }
    add(element)
    return oldest
  }

  @inlinable
  mutating func takeFirst() -> Element? {
    guard count > 0 else { return nil }
    let index = first
    first = slot(1)
    count -= 1
    return slots[index].take()
  }

  @inlinable
  func slot(_ offset: Int) -> Int { (first &+ offset) & (slots.count &- 1) }

  @inlinable
  mutating func add(_ element: Element) {
    reserveOne()
    slots[slot(count)] = element
    count += 1
  }

  @inlinable
  mutating func reserveOne() {
    guard count == slots.count else { return }
    let larger = (0..<max(4, 2 * count)).map { $0 < count ? slots[slot($0)] : nil }
    (slots, first) = (larger, 0)
  }
}
