// Parsers for the files in /proc/<pid>.

/// One line of /proc/<pid>/stat.
struct ProcessStat: Equatable {
  let pid: Int32
  let name: String
  /// The state: R running, S sleeping, D waiting for a device, T stopped, Z zombie.
  let state: String
  /// User and system time, in clock ticks.
  let ticks: UInt64
  /// The start time of the process in clock ticks. PIDs are reused; PID and start time together identify a process.
  let startTime: UInt64
  let residentPages: Int64

  /// Parses `42 (name) S 1 …`. The name may contain spaces, parentheses and newlines; it ends at the last parenthesis.
  init?(_ bytes: [UInt8]) {
    guard let opening = bytes.firstIndex(of: UInt8(ascii: "(")), let closing = bytes.lastIndex(of: UInt8(ascii: ")")),
      opening < closing
    else { return nil }
    let number = String(decoding: bytes[..<opening], as: UTF8.self).filter { !$0.isWhitespace }
    let fields = String(decoding: bytes[(closing + 1)...], as: UTF8.self).split(whereSeparator: \.isWhitespace)
    // The manual counts fields from 1, beginning with the PID; fields[0] is field 3.
    func field<Value: FixedWidthInteger>(_ position: Int) -> Value? {
      fields.count > position - 3 ? Value(fields[position - 3]) : nil
    }
    guard let pid = Int32(number), let state = fields.first, let startTime: UInt64 = field(22) else { return nil }
    self.pid = pid
    name = String(decoding: bytes[(opening + 1)..<closing], as: UTF8.self)
    self.state = String(state)
    ticks = (field(14) ?? 0) &+ (field(15) ?? 0)
    self.startTime = startTime
    residentPages = field(24) ?? 0
  }
}

/// Returns the second number of /proc/<pid>/statm: the resident pages, more exact than those in `stat`.
func residentPages(statm text: String) -> Int64? {
  let fields = text.split(whereSeparator: \.isWhitespace)
  return fields.count > 1 ? Int64(fields[1]).flatMap { $0 >= 0 ? $0 : nil } : nil
}
