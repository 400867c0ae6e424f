// The lines of Benchmarks/results.md and results.json, in files that scripts/bench.sh combines.

import Foundation
import Rows

enum Results {
  /// The benchmark tool chooses the order of runs, so each line has its position in the table, by which the lines are sorted.
  static func nextPlace() -> Int {
    places += 1
    return places
  }

  /// Appends a line for a comparison. The ratio is the median of the ratios of the turns.
  static func append(_ comparison: Comparison, ours: [Double], theirs: [Double]) {
    let ratio = median(zip(ours, theirs).map { comparison.isThroughput ? $1 / $0 : $0 / $1 })
    append(
      Line(
        place: comparison.place, name: comparison.name, subject: comparison.subject, against: comparison.against,
        unit: "ns",
        ours: median(ours), theirs: median(theirs), ratio: ratio, bar: comparison.bar, held: ratio, runs: ours.count))
  }

  static func append(_ footprint: Footprint, place: Int, ours: Double, theirs: Double) {
    var line = Line(
      place: place, name: footprint.name, subject: "swift-kvo", against: footprint.against, unit: "bytes", ours: ours,
      theirs: theirs,
      ratio: theirs > 0 ? ours / theirs : nil, bar: nil, held: 0, runs: 1)
    switch footprint.bar {
    case .bytes(let limit): (line.bar, line.held) = (Bar(.bytesAtMost, limit), ours)
    case .added(let limit): (line.bar, line.held) = (Bar(.bytesAddedAtMost, limit), ours - theirs)
    case nil: break
    }
    append(line)
  }

  private static func append(_ line: Line) {
    let folder = environment("KVO_BENCH_RESULTS")
    append("\(line.place)\t\(line.json)", to: folder + "/rows.json")
    append("\(line.place)\t\(line.markdown)", to: folder + "/rows.md")
  }

  private static func append(_ line: String, to path: String) {
    guard let file = fopen(path, "a") else { fail("cannot write \(path)") }
    fputs(line + "\n", file)
    fclose(file)
  }
}

private nonisolated(unsafe) var places = 0

private struct Line {
  let place: Int
  let name: String
  let subject: String
  let against: String
  let unit: String
  let ours: Double
  let theirs: Double
  let ratio: Double?
  var bar: Bar?
  /// The value that is compared with the bar.
  var held: Double
  let runs: Int

  var json: String {
    let isTime = unit == "ns"
    var object: [String: Any] = [
      "name": name, "subject": subject, "against": against, "ns": isTime ? ours : NSNull(),
      "againstNs": isTime ? theirs : NSNull(), "ratio": ratio ?? NSNull(), "bar": bar?.limit ?? NSNull(),
      "barKind": bar.map { "\($0.kind)" } ?? NSNull(), "met": bar?.holds(held) ?? NSNull(), "runs": runs,
    ]
    if !isTime { (object["bytes"], object["againstBytes"]) = (ours, theirs) }
    guard let data = try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys]) else {
      fail("no JSON can be made of \(object)")
    }
    return String(decoding: data, as: UTF8.self)
  }

  var markdown: String {
    let (bar, verdict) = (bar.map(text) ?? "", bar.map { $0.holds(held) ? "yes" : "**no**" } ?? "")
    let cells = [
      name, subject, against, "\(number(ours)) \(unit)", "\(number(theirs)) \(unit)", ratio.map(number) ?? "", bar,
      verdict, "\(runs)",
    ]
    return "| " + cells.joined(separator: " | ") + " |"
  }

  private func text(_ bar: Bar) -> String {
    switch bar.kind {
    case .ratioAtMost: "<= \(number(bar.limit))"
    case .throughputAtLeast: ">= \(number(bar.limit))"
    case .bytesAtMost: "<= \(Int(bar.limit)) bytes"
    case .bytesAddedAtMost: "<= +\(Int(bar.limit)) bytes"
    }
  }
}

private func number(_ value: Double) -> String { String(format: value < 0.1 ? "%.3f" : "%.2f", value) }

private func median(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
}
