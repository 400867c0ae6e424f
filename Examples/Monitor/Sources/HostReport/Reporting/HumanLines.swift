// Human-readable output: the events of a sample are collected, and printed at its end if they show a change.
import HostModel

struct HumanLines {
  /// The number of processes per sample with a line of their own, separately for new and for ended processes.
  static let processLimit = 6
  static let coreLimit = 8

  private var memory: String?
  private var load: String?
  private var busy: Double?
  private var cores: [Int: Double] = [:]
  private var appeared: [ProcessSummary] = []
  private var disappeared: [ProcessSummary] = []
  private var spotlight: [(label: String, text: String)] = []
  /// The last text for each label. A line that would repeat it is omitted.
  private var printed: [String: String] = [:]

  /// Returns the lines to print now.
  mutating func lines(for event: Event, elapsed: Double) -> [String] {
    switch event {
    case .host(let name): return changed("host", printable(name), elapsed)
    case .uptime(let seconds):
      // Printed once only, because it increases steadily.
      return printed["uptime"] == nil ? changed("uptime", duration(seconds), elapsed) : []
    case .load(let averages):
      load = [averages.one, averages.five, averages.fifteen].map { decimal($0, 2) }.joined(separator: "  ")
    case .memory(_, let new): memory = new.map { "\(percent($0)) used" }
    case .cpu(let core, _, let new): cores[core] = new
    case .busy(let fraction): busy = fraction
    case .insertion(let processes, _): appeared += processes
    case .removal(let processes, _): disappeared += processes
    case .process(let process, let bytes):
      spotlight.append(("watching", "\(text(process)) has \(size(bytes)) in memory"))
    case .gone(let process): spotlight.append(("key path", "\\.spotlight?.state is nil now: \(text(process)) is gone"))
    case .ended(let process):
      spotlight.append(("token", "\(text(process)) exited; its observation ended with it"))
    case .unreadable: break  // printed on stderr
    case .sample(let number): return sample(number, elapsed)
    case .summary(let summary): return summaryLines(summary)
    }
    return []
  }

  private mutating func sample(_ number: Int, _ elapsed: Double) -> [String] {
    defer {
      (appeared, disappeared, spotlight) = ([], [], [])
      cores = [:]
    }
    var lines = changed("memory", memory, elapsed) + changed("cpu", cpuText, elapsed)
    lines += changed("load", load, elapsed)
    lines += processLines("-", disappeared, elapsed)
    // The processes that the first sample finds are not new.
    if number > 1 {
      lines += processLines("+", appeared, elapsed)
    } else if !appeared.isEmpty {
      lines.append(line("process", "\(appeared.count) at the start", elapsed))
    }
    for (label, text) in spotlight { lines += changed(label, text, elapsed) }
    return lines
  }

  private var cpuText: String? {
    guard let busy, !cores.isEmpty else { return nil }
    let busiest = cores.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(Self.coreLimit)
    let shown = busiest.sorted { $0.key < $1.key }.map { "cpu\($0.key) \(percent($0.value))" }.joined(separator: "  ")
    let more = cores.count - busiest.count
    return "\(percent(busy)) busy   \(shown)" + (more > 0 ? "  … and \(more) less busy" : "")
  }

  private func processLines(_ sign: String, _ processes: [ProcessSummary], _ elapsed: Double) -> [String] {
    var lines = processes.prefix(Self.processLimit).map { line("process", "\(sign) \(text($0))", elapsed) }
    let more = processes.count - lines.count
    if more > 0 { lines.append(line("process", "\(sign) … and \(more) more", elapsed)) }
    return lines
  }

  private mutating func changed(_ label: String, _ text: String?, _ elapsed: Double) -> [String] {
    guard let text, printed[label] != text else { return [] }
    printed[label] = text
    return [line(label, text, elapsed)]
  }

  private func line(_ label: String, _ text: String, _ elapsed: Double) -> String {
    "\(padded(decimal(elapsed, 2) + "s", 9))  \(label.padding(8))  \(text)"
  }

  private func text(_ process: ProcessSummary) -> String { "\(printable(process.name)) (pid \(process.pid))" }
}
