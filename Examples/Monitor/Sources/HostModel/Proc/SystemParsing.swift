// Parsers for the files in /proc about the machine. Each returns nil for text that it does not understand.

package struct LoadAverages: Equatable, Codable, Sendable {
  package let one: Double
  package let five: Double
  package let fifteen: Double

  /// Parses `0.52 0.58 0.59 1/467 12345`.
  init?(loadavg text: String) {
    let fields = text.split(whereSeparator: \.isWhitespace).prefix(3).compactMap { Double($0) }
    guard fields.count == 3, fields.allSatisfy(\.isFinite) else { return nil }
    (one, five, fifteen) = (fields[0], fields[1], fields[2])
  }
}

/// Parses `12345.67 54321.00`: the uptime and the idle time in seconds.
func uptime(of text: String) -> Double? {
  text.split(whereSeparator: \.isWhitespace).first.flatMap { Double($0) }.flatMap { $0.isFinite ? $0 : nil }
}

struct MemoryFigures: Equatable {
  let total: Int64
  let available: Int64

  /// Parses lines such as `MemTotal:       16316412 kB`.
  init?(meminfo text: String) {
    var bytes: [Substring: Int64] = [:]
    for line in text.split(whereSeparator: \.isNewline) {
      guard let colon = line.firstIndex(of: ":") else { continue }
      bytes[line[..<colon]] = Self.amount(line[line.index(after: colon)...])
    }
    guard let total = bytes["MemTotal"], total > 0 else { return nil }
    // Kernels before 3.14 provide no estimate; this is the usual one.
    let estimate = bytes["MemFree"].map { $0 + (bytes["Buffers"] ?? 0) + (bytes["Cached"] ?? 0) }
    guard let available = bytes["MemAvailable"] ?? estimate else { return nil }
    self.total = total
    self.available = min(max(available, 0), total)
  }

  /// Parses a number with an optional unit.
  private static func amount(_ text: Substring) -> Int64? {
    let fields = text.split(whereSeparator: \.isWhitespace)
    guard let first = fields.first, let number = Int64(first), number >= 0 else { return nil }
    guard fields.count > 1 else { return number }
    guard fields[1].lowercased() == "kb" else { return nil }
    // Limited, so that the sum of a few values cannot overflow.
    let (bytes, overflow) = number.multipliedReportingOverflow(by: 1024)
    return overflow || bytes > Int64.max / 8 ? nil : bytes
  }
}

/// The CPU time of a core since the machine started, in clock ticks.
struct CPUTicks: Equatable {
  let busy: UInt64
  let total: UInt64

  /// Returns the difference, or nil if the counters decreased, which happens when a core goes offline.
  func since(_ earlier: CPUTicks) -> CPUTicks? {
    guard total >= earlier.total, busy >= earlier.busy else { return nil }
    return CPUTicks(busy: busy - earlier.busy, total: total - earlier.total)
  }

  /// Parses the cores in /proc/stat: lines such as `cpu0 user nice system idle iowait irq softirq steal guest guest_nice`.
  static func cores(stat text: String) -> [Int: CPUTicks]? {
    var cores: [Int: CPUTicks] = [:]
    for line in text.split(whereSeparator: \.isNewline) where line.hasPrefix("cpu") {
      let fields = line.split(whereSeparator: \.isWhitespace)
      guard let name = fields.first, let core = Int(name.dropFirst(3)), core >= 0 else { continue }
      // Guest time is included in user time. Old kernels have fewer columns.
      let columns = fields.dropFirst().prefix(8).map { UInt64($0) ?? 0 }
      guard columns.count >= 4 else { continue }
      let idle = columns[3] &+ (columns.count > 4 ? columns[4] : 0)
      let total = columns.reduce(0, &+)
      guard total >= idle else { continue }
      cores[core] = CPUTicks(busy: total - idle, total: total)
    }
    return cores.isEmpty ? nil : cores
  }
}
