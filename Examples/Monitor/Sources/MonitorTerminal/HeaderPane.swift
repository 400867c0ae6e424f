// The first lines: the machine's name, its load, its processors and its memory.
import HostModel
import KeyValueObserving
import MonitorModel

final class HeaderPane: Pane {
  private let host: Machine

  init(_ host: Machine) {
    self.host = host
    super.init()
    // Each of these reaches this pane without a token and without a capture list, on the main actor.
    host.onChange(of: \.name, for: self) { me, _, _ in me.setNeedsDisplay() }
    host.source(\.uptime, \.load).onChange(for: self) { me, _, _ in me.setNeedsDisplay() }
    host.onChange(of: \.busyFraction, for: self) { me, _, _ in me.setNeedsDisplay() }
    host.onChange(of: \.memory?.used, for: self) { me, _, _ in me.setNeedsDisplay() }
    host.onChange(of: \.problems, for: self) { me, _, _ in me.setNeedsDisplay() }
  }

  override func lines() -> [Line] {
    let load = host.load.map { [$0.one, $0.five, $0.fifteen].map { decimal($0, 2) }.joined(separator: " ") }
    let memory = host.memory.map { "\(size($0.used)) of \(size($0.total)) (\(decimal($0.usedFraction * 100, 1)) %)" }
    let name = Line(printable(host.name ?? "?"), [.bold, .cyan])
    let first = name.adding("   up \(host.uptime.map(duration) ?? "?")   load \(load ?? "?")")
    let cores = "\(host.cpus.count) core\(host.cpus.count == 1 ? "" : "s")"
    let second = Line("CPU ", .dim).adding("\(decimal((host.busyFraction ?? 0) * 100, 1)) % of \(cores)", .green)
      .adding("   memory ", .dim).adding(memory ?? "?", .yellow)
    let problem = host.problems.last.map { Line("cannot read \($0.path): \($0.reason)", .yellow) }
    return [first, second] + (problem.map { [$0] } ?? [])
  }
}
