// The asynchronous sequence of the values or the changes of a key path.

/// The values or the changes of what is observed, as an asynchronous sequence.
///
/// ```swift
/// for await title in document.values(of: \.title) { print(title) }
/// ```
/// ``KeyValueObservable/values(of:options:buffering:isolation:fileID:line:)`` and
/// ``KeyValueObservable/changes(of:options:buffering:isolation:fileID:line:)`` make it.
/// The observation is registered when they return, so that no change is missed before the first `await`.
///
/// The loop ends when the observed object is deallocated, after what was sent until then, and when its task is cancelled; what waits is
/// then dropped. The observation ends with the last iterator, also of a loop that is left with `break`, or with the stream if it was never
/// iterated. Neither keeps the object alive.
///
/// Each iterator gets every element: one that is made before the first element is taken gets all since the call, a later one all from
/// then on, and none when the observation has ended. Two loops over one stream thus do not take elements from each other. The stream may be
/// sent to another isolation domain if the elements may; an iterator is used by one task at a time.
public struct KeyValueStream<Element>: AsyncSequence {
  /// A loop does not throw.
  public typealias Failure = Never

  private let source: Source

  @usableFromInline
  init(
    _ buffering: KeyValueBuffering, expectsInitial: Bool,
    subscribe: (StreamChannel<Element>) -> NSKeyValueObservation
  ) {
    source = Source(StreamChannel(buffering, expectsInitial: expectsInitial, subscribe: subscribe))
  }

  /// Returns an iterator of its own. See ``KeyValueStream`` for several.
  public func makeAsyncIterator() -> Iterator { Iterator(source.channel) }

  /// Takes the elements of a stream, one at a time.
  public struct Iterator: AsyncIteratorProtocol {
    @usableFromInline let reader: Reader

    fileprivate init(_ channel: StreamChannel<Element>) { reader = Reader(channel) }

    /// Returns the next element, or `nil` at the end. Runs on the actor of the caller.
    @inlinable
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      let (channel, queue) = (reader.channel, reader.queue)
      if Task.isCancelled { channel.close(queue) }
      switch channel.take(from: queue) {
      case .element(let element): return element
      case .end: return nil
      case .later: break
      }
      return await withTaskCancellationHandler {
        await withUnsafeContinuation(isolation: actor) { channel.take(from: queue, for: $0) }
      } onCancel: {
        channel.close(queue)
      }.element
    }

    /// Returns the next element, or `nil` at the end. Runs on the actor of the caller.
    @inlinable
    public nonisolated(nonsending) mutating func next() async -> Element? {
      await next(isolation: #isolation)
    }
  }

  /// What the copies of a stream have in common.
  private final class Source: Sendable {
    let channel: StreamChannel<Element>

    init(_ channel: StreamChannel<Element>) { self.channel = channel }

    deinit { channel.closeUnused() }
  }

  /// What the copies of an iterator have in common.
  @usableFromInline
  final class Reader {
    @usableFromInline let channel: StreamChannel<Element>
    @usableFromInline let queue: StreamQueue<Element>

    init(_ channel: StreamChannel<Element>) {
      self.channel = channel
      queue = channel.makeQueue()
    }

    deinit { channel.close(queue) }
  }
}

extension KeyValueStream: Sendable where Element: Sendable {}

@available(*, unavailable)
extension KeyValueStream.Iterator: Sendable {}
