// Streams with the operators of swift-async-algorithms.
import AsyncAlgorithms
import KeyValueObserving
import Testing

@Suite("Streams with swift-async-algorithms")
struct AsyncAlgorithmsTests {
  @Test("debounce sends the last value of a burst")
  func debounced() async {
    var track: Track? = Track()
    let titles = track!.values(of: \.title, options: []).debounce(for: .milliseconds(20))
    let loop = Task {
      var received: [String] = []
      for await title in titles {
        received.append(title)
        if title == "end" { break }
      }
      return received
    }
    for number in 1...100 { track!.title = "\(number)" }
    try? await Task.sleep(for: .milliseconds(300))
    track!.title = "end"
    let received = await loop.value
    #expect(received.last == "end")
    #expect(received.contains("100"))
    #expect(received.count < 50)
    track = nil
  }

  @Test("combineLatest sends the present values of two objects, and ends with both")
  func combined() async {
    var (first, second): (Track?, Track?) = (Track(), Track())
    let both = combineLatest(first!.values(of: \.plays), second!.values(of: \.plays))
    let last = Task {
      var last = (-1, -1)
      for await pair in both { last = pair }
      return last
    }
    for plays in 1...10 {
      first!.plays = plays
      second!.plays = 2 * plays
    }
    (first, second) = (nil, nil)
    #expect(await last.value == (10, 20))
  }

  @Test("merge sends every change of two key paths, and ends with the object")
  func merged() async {
    var track: Track? = Track()
    let merged = merge(
      track!.changes(of: \.plays).map { "\($0.oldValue!) -> \($0.newValue!)" }, track!.values(of: \.title, options: []))
    let all = Task { await merged.reduce(into: Set<String>()) { $0.insert($1) } }
    track!.plays = 1
    track!.title = "Emma"
    track!.plays = 2
    track = nil
    #expect(await all.value == ["0 -> 1", "Emma", "1 -> 2"])
  }

  @Test("The observation ends when the task that combines is cancelled")
  func cancelled() async {
    let (track, log) = (Track(), Log<Int>())
    let merged = merge(track.values(of: \.plays), track.values(of: \.plays))
    let loop = Task { for await plays in merged { log.add(plays) } }
    while log.all.count < 2 { await Task.yield() }
    loop.cancel()
    await loop.value
    while track.observationInfo != nil { await Task.yield() }
  }
}
