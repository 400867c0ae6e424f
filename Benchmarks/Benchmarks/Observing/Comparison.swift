// A line of the table: two ways to do one thing, measured in turns, so that what disturbs one disturbs the other.

import Benchmark
import Foundation

struct Bar {
  enum Kind {
    /// Ours takes at most so many times the time of the peer's.
    case ratioAtMost
    /// Ours does at least so many times as much.
    case throughputAtLeast
    case bytesAtMost
    case bytesAddedAtMost
  }

  let kind: Kind
  let limit: Double

  init(_ kind: Kind, _ limit: Double) { (self.kind, self.limit) = (kind, limit) }

  func holds(_ value: Double) -> Bool { kind == .throughputAtLeast ? value >= limit : value <= limit }
}

/// What is compared, before it is measured.
struct Comparison {
  let place = Results.nextPlace()
  let name: String
  let subject: String
  let against: String
  let bar: Bar?
  /// Of how much is done in a time; else the ratio is that of the times.
  var isThroughput = false
}

/// Registers a comparison. `make` sets both sides up; each then measures a turn: nanoseconds an operation.
func compare(
  _ comparison: Comparison, runs: Int = 31, _ make: @escaping () -> (ours: () -> Double, theirs: () -> Double)
) {
  let (oursMetric, theirsMetric) = (BenchmarkMetric.custom("ours, ps"), BenchmarkMetric.custom("peer, ps"))
  Benchmark(
    "\(comparison.name): \(comparison.against)",
    configuration: .init(
      metrics: [oursMetric, theirsMetric], warmupIterations: 0, maxDuration: .seconds(60), maxIterations: runs)
  ) { benchmark in
    let (ours, theirs) = turns.take()
    benchmark.measurement(oursMetric, Int(ours * 1000))
    benchmark.measurement(theirsMetric, Int(theirs * 1000))
  } setup: {
    turns = Turns(sides: make())
  } teardown: {
    Results.append(comparison, ours: turns.ours, theirs: turns.theirs)
  }
}

/// Of the benchmark that runs: the tool runs each in a process of its own, on one thread.
private nonisolated(unsafe) var turns = Turns(sides: ({ 0 }, { 0 }))

private struct Turns {
  let sides: (ours: () -> Double, theirs: () -> Double)
  private(set) var ours: [Double] = []
  private(set) var theirs: [Double] = []

  init(sides: (ours: () -> Double, theirs: () -> Double)) { self.sides = sides }

  /// One turn of each, the order alternating.
  mutating func take() -> (Double, Double) {
    if ours.count.isMultiple(of: 2) {
      ours.append(sides.ours())
      theirs.append(sides.theirs())
    } else {
      theirs.append(sides.theirs())
      ours.append(sides.ours())
    }
    return (ours[ours.count - 1], theirs[theirs.count - 1])
  }
}
