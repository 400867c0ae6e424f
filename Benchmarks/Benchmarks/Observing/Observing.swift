// Registers all comparisons with the benchmark tool, in the order of the table.

import Benchmark
import Rows

// The entry point that the benchmark tool looks for.
let benchmarks: @Sendable () -> Void = {
  for row in Row.all {
    for peer in row.peers { compare(row, with: peer) }
  }
  for count in Population.counts { comparePopulation(of: count) }
  for row in ThreadedRow.all { compareThreads(row) }
  for (index, footprint) in Footprint.all.enumerated() { compareBytes(footprint, index) }
}

private func compare(_ row: Row, with peer: Peer) {
  compare(
    Comparison(
      name: row.name, subject: row.subject, against: peer.name, bar: peer.bar.map { .init(.ratioAtMost, $0) })
  ) {
    let (ours, theirs) = (Side(row.make()), Side(peer))
    return (ours.turn, theirs.turn)
  }
}

/// Compares the cost of a set among many objects, less the cost of the same walk over plain objects, with the cost among few.
private func comparePopulation(of count: Int) {
  compare(
    Comparison(
      name: "observed set, \(count) observed objects, each once in random order, beyond a plain walk",
      subject: "swift-kvo", against: "the same of \(Population.small) objects",
      bar: count == Population.counts.last ? .init(.ratioAtMost, 2) : nil), runs: 15
  ) {
    func beyondPlain(_ count: Int) -> () -> Double {
      // A new population for each walk, because each object is set once. Small populations are walked more often.
      func time(_ make: (Int) -> Population) -> Double {
        let walks = max(1, 20_000 / count)
        let times = (0..<walks).map { _ in
          let population = make(count)
          return nanoseconds(population.walk)
        }
        return times.reduce(0, +) / Double(walks * count)
      }
      return { time(Population.observed) - time(Population.plain) }
    }
    return (beyondPlain(count), beyondPlain(Population.small))
  }
}

/// Compares two threads with one; both sides are ours.
private func compareThreads(_ row: ThreadedRow) {
  compare(
    Comparison(
      name: row.name, subject: row.subject, against: "1 thread",
      bar: row.bar.map { .init(.throughputAtLeast, $0) }, isThroughput: true)
  ) {
    let runs = [row.make(), row.make()]
    func side(_ threads: Int) -> () -> Double {
      Side { together(Array(runs.prefix(threads)), count: $0) / Double(threads) }.turn
    }
    return (side(2), side(1))
  }
}

/// The bytes are counted by another program, because the counter replaces malloc.
private func compareBytes(_ footprint: Footprint, _ index: Int) {
  let (place, metric) = (Results.nextPlace(), BenchmarkMetric.custom("bytes"))
  Benchmark(
    "\(footprint.name): \(footprint.against)",
    configuration: .init(metrics: [metric], warmupIterations: 0, maxIterations: 1)
  ) { benchmark in
    let (ours, theirs) = countedBytes(ofFootprint: index)
    benchmark.measurement(metric, Int(ours))
    Results.append(footprint, place: place, ours: ours, theirs: theirs)
  }
}
