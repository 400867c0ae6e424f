// The publisher of a key path.
import Foundation
import KeyValueObserving
import OpenCombine
import Testing

@Suite("A publisher")
struct PublisherTests {
  /// Takes values as it is asked to.
  private final class Taker: Subscriber {
    let log = Log<String>()
    var subscription: (any Subscription)?
    /// The demand that each value adds.
    var more = Subscribers.Demand.none

    func receive(subscription: any Subscription) { self.subscription = subscription }
    func receive(_ input: Int) -> Subscribers.Demand {
      log.add("\(input)")
      return more
    }
    func receive(completion: Subscribers.Completion<Never>) { log.add("finished") }
  }

  @Test("sends the present value and each new one, before the setter returns")
  func values() {
    let (track, log) = (Track(), Log<String>())
    let subscription = track.publisher(for: \.title).sink { log.add($0) }
    track.title = "A"
    #expect(log.all == ["", "A"])
    track.title = "A"
    #expect(log.all == ["", "A", "A"])
    let later = track.publisher(for: \.title, options: [.new, .distinct]).sink { log.add("later \($0)") }
    track.title = "A"
    #expect(log.all == ["", "A", "A", "A"])
    withExtendedLifetime((subscription, later)) {}
  }

  @Test("sends the old value too with .prior, and whole collections")
  func options() {
    let (track, log) = (Track(), Log<[String]>())
    let subscription = track.publisher(for: \.tags, options: [.prior]).sink { log.add($0) }
    track.mutableArrayValue(forKey: "tags").append("a")
    track.tags = ["b"]
    #expect(log.all == [[], ["a"], ["a"], ["b"]])
    withExtendedLifetime(subscription) {}
  }

  @Test("drops values for which there is no demand, but not the first one")
  func demand() {
    let (track, taker) = (Track(), Taker())
    track.publisher(for: \.plays).subscribe(taker)
    track.plays = 1
    #expect(taker.log.all == [])
    taker.subscription!.request(.max(2))
    #expect(taker.log.all == ["0"])
    track.plays = 2
    track.plays = 3
    #expect(taker.log.all == ["0", "2"])
    taker.subscription!.request(.max(1))
    #expect(taker.log.all == ["0", "2"])
    taker.more = .max(1)
    for plays in 4...6 { track.plays = plays }
    #expect(taker.log.all == ["0", "2", "4", "5", "6"])
  }

  @Test("drops values without demand after one that it has sent")
  func later() {
    let (track, taker) = (Track(), Taker())
    track.source(\.plays).filter { $0 > 0 }.publisher().subscribe(taker)
    taker.subscription!.request(.max(1))
    track.plays = 1
    track.plays = 2
    taker.subscription!.request(.max(1))
    #expect(taker.log.all == ["1"])
  }

  @Test("counts a demand that is made before there is a value")
  func earlyDemand() {
    let (track, taker) = (Track(), Taker())
    track.publisher(for: \.plays, options: []).subscribe(taker)
    taker.subscription!.request(.max(1))
    track.plays = 1
    track.plays = 2
    #expect(taker.log.all == ["1"])
  }

  @Test("keeps the object, but its subscription does not, and finishes when the object is deallocated")
  func completion() {
    let taker = Taker()
    weak var observed: Track?
    do {
      let track = Track()
      observed = track
      track.publisher(for: \.plays).subscribe(taker)
      taker.subscription!.request(.unlimited)
    }
    #expect(observed == nil)
    #expect(taker.log.all == ["0", "finished"])
  }

  @Test("ends the observation when the subscription is cancelled or released")
  func cancellation() {
    let (track, log) = (Track(), Log<Int>())
    let publisher = track.publisher(for: \.plays, options: [])
    #expect(track.observationInfo == nil)
    let subscription = publisher.sink { log.add($0) }
    track.plays = 1
    subscription.cancel()
    subscription.cancel()
    #expect(track.observationInfo == nil)
    do {
      let other = publisher.sink { log.add($0) }
      track.plays = 2
      withExtendedLifetime(other) {}
    }
    #expect(track.observationInfo == nil)
    track.plays = 3
    #expect(log.all == [1, 2])
  }

  @Test("can be cancelled while it sends, and sends at once what its subscriber causes")
  func reentrance() {
    let (track, log) = (Track(), Log<String>())
    var subscription: AnyCancellable?
    subscription = track.publisher(for: \.plays, options: []).sink { plays in
      log.add("begin \(plays)")
      if plays < 3 { track.plays = plays + 1 }
      if plays == 3 { subscription?.cancel() }
      log.add("end \(plays)")
    }
    track.plays = 1
    #expect(log.all == ["begin 1", "begin 2", "begin 3", "end 3", "end 2", "end 1"])
    #expect(track.observationInfo == nil)
  }

  @Test("is equal to one of the same object, key path and options, and can send changes without the value")
  func equality() {
    let (track, other, log) = (Track(), Track(), Log<Bool>())
    #expect(track.publisher(for: \.plays) == track.publisher(for: \.plays))
    #expect(track.publisher(for: \.plays) != track.publisher(for: \.plays, options: []))
    #expect(track.publisher(for: \.plays) != other.publisher(for: \.plays))
    let subscription = track.publisher(for: \.plays, options: []).didChange().sink { log.add(true) }
    track.plays = 1
    #expect(log.all.count == 1)
    withExtendedLifetime(subscription) {}
  }

  @Test("of a source sends its values, and finishes with the last of its objects")
  func sources() {
    let log = Log<String>()
    var (first, last): (Track?, Track?) = (Track(), Track())
    let sum = KeyValueSource.combineLatest(first!.source(\.plays), last!.source(\.plays)) { $0 + $1 }
    let subscription = sum.map { "\($0)" }.publisher.sink(
      receiveCompletion: { _ in log.add("finished") }, receiveValue: { log.add($0) })
    first!.plays = 1
    first = nil
    last!.plays = 2
    #expect(log.all == ["0", "1", "3"])
    last = nil
    #expect(log.all == ["0", "1", "3", "finished"])
    withExtendedLifetime(subscription) {}
  }

  @Test("calls its subscriber on one thread at a time, with every change of several threads")
  func threads() async {
    let (track, calls, overlaps) = (Track(), Log<Int>(), Log<Bool>())
    nonisolated(unsafe) var isCalled = false
    let subscription = track.publisher(for: \.plays, options: []).sink { plays in
      if isCalled { overlaps.add(true) }
      isCalled = true
      calls.add(plays)
      isCalled = false
    }
    await onThreads(4) { thread in
      for plays in 0..<1000 { track.plays = thread * 1000 + plays }
    }
    #expect(calls.all.count == 4000)
    #expect(overlaps.all.isEmpty)
    withExtendedLifetime(subscription) {}
  }

  @Test("does not deadlock when two subscribers set each other's objects on two threads")
  func crossing() async {
    let (first, second) = (Track(), Track())
    let subscriptions = [
      first.publisher(for: \.plays, options: []).sink { second.title = "\($0)" },
      second.publisher(for: \.title, options: []).sink { _ in first.tags = [] },
      second.publisher(for: \.plays, options: []).sink { first.title = "\($0)" },
      first.publisher(for: \.title, options: []).sink { _ in second.tags = [] },
    ]
    await onThreads(2) { thread in
      for plays in 0..<1000 { (thread == 0 ? first : second).plays = plays }
    }
    withExtendedLifetime(subscriptions) {}
  }

  @Test("is cancelled on one thread while others set and the object is deallocated")
  func endsAtOnce() async {
    for _ in 0..<200 {
      var track: Track? = Track()
      let log = Log<Int>()
      nonisolated(unsafe) let subscription = track!.publisher(for: \.plays).sink { log.add($0) }
      let shared = Log<Track>()
      shared.add(track!)
      track = nil
      await onThreads(2) { thread in
        if thread == 0 {
          subscription.cancel()
        } else {
          for plays in 0..<10 { shared.all[0].plays = plays }
        }
      }
    }
  }
}

/// Runs code on several threads, and waits for them.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async {
  await Task.detached { DispatchQueue.concurrentPerform(iterations: count, execute: body) }.value
}
