// Registers all comparisons with the benchmark tool, in the order of the table.

import Benchmark
import Rows

// The entry point that the benchmark tool looks for.
let benchmarks: @Sendable () -> Void = {
  for row in Row.all {
    for peer in row.peers { compare(row, with: peer) }
  }
  for row in ThreadedRow.all { compareThreads(row) }
  for (index, footprint) in Footprint.all.enumerated() { compareBytes(footprint, index) }
}

private func compare(_ row: Row, with peer: Peer) {
  compare(
    Comparison(
      name: row.name, subject: row.subject, against: peer.name, bar: peer.bar.map { .init(.ratioAtMost, $0) }),
    runs: row.runs
  ) {
    let ours = Side(row.make(), turnNanoseconds: row.turnNanoseconds)
    let theirs = Side(peer, turnNanoseconds: row.turnNanoseconds)
    return (ours.turn, theirs.turn)
  }
}

/// Compares two threads with one; both sides are ours.
private func compareThreads(_ row: ThreadedRow) {
  compare(
    Comparison(
      name: row.name, subject: row.subject, against: "1 thread",
      bar: row.bar.map { .init(.throughputAtLeast, $0) }, isThroughput: true)
  ) {
    let runs = [row.make(0), row.make(1)]
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
