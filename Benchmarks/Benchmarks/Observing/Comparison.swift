// A line of the table: two implementations of one operation, measured alternately, so that disturbances affect both.

import Benchmark
import Foundation

struct Bar {
  enum Kind {
    /// The maximum ratio of our time to the peer's.
    case ratioAtMost
    /// The minimum ratio of our throughput to the peer's.
    case throughputAtLeast
    case bytesAtMost
    case bytesAddedAtMost
  }

  let kind: Kind
  let limit: Double

  init(_ kind: Kind, _ limit: Double) { (self.kind, self.limit) = (kind, limit) }

  func holds(_ value: Double) -> Bool { kind == .throughputAtLeast ? value >= limit : value <= limit }
}

/// The two sides of a comparison, before it is measured.
struct Comparison {
  let place = Results.nextPlace()
  let name: String
  let subject: String
  let against: String
  let bar: Bar?
  /// Whether the ratio is one of throughputs; otherwise it is one of times.
  var isThroughput = false
}

/// Registers a comparison. `make` sets up both sides; each of the functions it returns measures one turn, in nanoseconds per
/// operation.
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

/// The turns of the benchmark that is running: the tool runs each benchmark in a separate process, on one thread.
private nonisolated(unsafe) var turns = Turns(sides: ({ 0 }, { 0 }))

private struct Turns {
  let sides: (ours: () -> Double, theirs: () -> Double)
  private(set) var ours: [Double] = []
  private(set) var theirs: [Double] = []

  init(sides: (ours: () -> Double, theirs: () -> Double)) { self.sides = sides }

  /// Measures one turn of each side, in alternating order.
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
