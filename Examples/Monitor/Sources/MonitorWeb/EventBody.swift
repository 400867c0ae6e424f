// Events as the body of a response of FlyingFox: each event is sent as soon as it comes.
import FlyingSocks

struct EventBody<Events: AsyncSequence & Sendable>: AsyncBufferedSequence where Events.Element == ServerEvent {
  typealias Element = UInt8

  let events: Events

  func makeAsyncIterator() -> Iterator { Iterator(events: events.makeAsyncIterator()) }

  struct Iterator: AsyncBufferedIteratorProtocol {
    fileprivate var events: Events.AsyncIterator
    /// What is left of an event.
    private var rest: ArraySlice<UInt8> = []

    fileprivate init(events: Events.AsyncIterator) { self.events = events }

    mutating func next() async throws -> UInt8? { try await nextBuffer(suggested: 1)?.first }

    mutating func nextBuffer(suggested count: Int) async throws -> ArraySlice<UInt8>? {
      if rest.isEmpty {
        guard let event = try await events.next() else { return nil }
        rest = ArraySlice(event.text.utf8)
      }
      let buffer = rest.prefix(Swift.max(1, count))
      rest = rest.dropFirst(buffer.count)
      return buffer
    }
  }
}
