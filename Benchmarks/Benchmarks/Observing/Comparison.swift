// A row of the table: two ways to do one thing, measured in turns, so that what disturbs one disturbs the other.

import Benchmark
import Foundation

/// Registers a comparison. `ours` and `peer` do the operation as often as they are told.
func compare(
  _ name: String, bar: Double, subject: String = "swift-kvo", against: String, operations: Int = 200_000,
  setup: @escaping () -> Void = {}, ours: @escaping (Int) -> Void, peer: @escaping (Int) -> Void,
  teardown: @escaping () -> Void = {}
) {
  let (oursMetric, peerMetric) = (BenchmarkMetric.custom("ours, ps"), BenchmarkMetric.custom("peer, ps"))
  let ratioMetric = BenchmarkMetric.custom("ratio, thousandths")
  Benchmark(
    name,
    configuration: .init(
      metrics: [oursMetric, peerMetric, ratioMetric], warmupIterations: 3, maxDuration: .seconds(2), maxIterations: 60)
  ) { benchmark in
    turns.run(ours, peer, operations)
    let (ours, peer) = turns.last
    benchmark.measurement(oursMetric, Int(ours * 1000))
    benchmark.measurement(peerMetric, Int(peer * 1000))
    benchmark.measurement(ratioMetric, Int(ours / peer * 1000))
  } setup: {
    turns = Turns()
    setup()
  } teardown: {
    teardown()
    let (ours, peer) = (median(turns.ours), median(turns.peer))
    let ratio = median(zip(turns.ours, turns.peer).map { $0 / $1 })
    func text(_ number: Double) -> String { String(format: "%.2f", number) }
    Results.append(
      object: [
        "name": name, "subject": subject, "against": against, "ns": ours, "againstNs": peer, "ratio": ratio, "bar": bar,
        "runs": turns.ours.count,
      ],
      line: "| \(name) | \(against) | \(text(ours)) | \(text(peer)) | \(text(ratio)) | \(text(bar)) | "
        + "\(turns.ours.count) |")
  }
}

/// Of the benchmark that runs; benchmarks run one after the other, on one thread.
private nonisolated(unsafe) var turns = Turns()

private struct Turns {
  var ours: [Double] = []
  var peer: [Double] = []
  var last: (Double, Double) = (0, 1)

  /// One turn of each, the order alternating; nanoseconds an operation.
  mutating func run(_ ours: (Int) -> Void, _ peer: (Int) -> Void, _ operations: Int) {
    func time(_ body: (Int) -> Void) -> Double {
      let duration = ContinuousClock().measure { body(operations) }
      let (seconds, attoseconds) = duration.components
      return (Double(seconds) * 1e9 + Double(attoseconds) / 1e9) / Double(operations)
    }
    if self.ours.count.isMultiple(of: 2) {
      last.0 = time(ours)
      last.1 = time(peer)
    } else {
      last.1 = time(peer)
      last.0 = time(ours)
    }
    self.ours.append(last.0)
    self.peer.append(last.1)
  }
}

private func median(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
}

/// Registers a comparison of the sizes of two classes' instances; what is held against the bar is the difference.
func compareSizes(_ name: String, bar: Int, ours: AnyClass, peer: AnyClass) {
  let metric = BenchmarkMetric.custom("bytes added")
  Benchmark(name, configuration: .init(metrics: [metric], warmupIterations: 0, maxIterations: 1)) { benchmark in
    let added = instanceSize(ours) - instanceSize(peer)
    benchmark.measurement(metric, added)
    Results.append(
      object: ["name": "\(name)", "subject": "swift-kvo", "against": "plain object", "bytes": added, "bar": bar],
      line: "| \(name), added | plain object | \(instanceSize(ours)) | \(instanceSize(peer)) | +\(added) "
        + "| +\(bar) | 1 |")
  }
}

/// The instance size in a class's metadata: it follows kind, superclass, two words of cache, data, flags and address point.
private func instanceSize(_ type: AnyClass) -> Int {
  let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
  let offset = 2 * MemoryLayout<UInt>.size + 2 * MemoryLayout<UInt32>.size
  return Int(metadata.load(fromByteOffset: offset, as: UInt32.self))
}

/// The files that `scripts/bench.sh` makes the table of; without it the benchmark tool's own tables are all there is.
private enum Results {
  static func append(object: [String: Any], line: String) {
    guard let folder = ProcessInfo.processInfo.environment["KVO_BENCH_RESULTS"],
      let data = try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys])
    else { return }
    append(data, to: folder + "/rows.json")
    append(Data(line.utf8), to: folder + "/rows.md")
  }

  private static func append(_ line: Data, to path: String) {
    if !FileManager.default.fileExists(atPath: path) { FileManager.default.createFile(atPath: path, contents: nil) }
    guard let file = FileHandle(forWritingAtPath: path) else { return }
    file.seekToEndOfFile()
    file.write(line + Data("\n".utf8))
    file.closeFile()
  }
}
