import HostModel
// What is observed, and how the last sample's changes travelled.
import KeyValueObserving
import MonitorModel

final class InspectorPane: Pane {
  private let inspector: Inspector
  private var firstLine = 0

  init(_ inspector: Inspector) {
    self.inspector = inspector
    super.init()
    isHidden = true
    inspector.source(\.observations, \.sample, \.problem).onChange(for: self) { me, _, _ in me.setNeedsDisplay() }
  }

  /// The number of lines that fit below the title.
  var pageSize: Int { max(1, frame.height - 1) }

  func scroll(by count: Int) {
    firstLine = max(0, firstLine + count)
    setNeedsDisplay()
  }

  override func lines() -> [Line] {
    let all = travel + [Line()] + observed
    firstLine = min(firstLine, max(0, all.count - pageSize))
    return [Line("What is observed, and how a sample travels (o: processes only)", .dim)]
      + all.dropFirst(firstLine)
  }

  private var travel: [Line] {
    if let problem = inspector.problem { return [Line("The sample could not be recorded: \(problem)", .yellow)] }
    guard let sample = inspector.sample else { return [Line("Recording the next sample …", .dim)] }
    let total = "\(sample.changes) changes of observed properties, \(sample.calls) calls of observers, "
    return [Line(total + time(sample.microseconds), .bold).adding(", the recording included", .dim)]
      + sample.steps.map { step in
        Line(padded(time(step.microseconds), 11) + "  " + String(repeating: "  ", count: step.depth))
          .adding(step.text, step.isChange ? .cyan : .green)
      }
  }

  private var observed: [Line] {
    let observations = inspector.observations
    let count = observations.reduce(0) { $0 + $1.count }
    return [Line("\(count) observations, made by \(observations.count) lines of the program", .bold)]
      + observations.map { observed in
        Line(padded("\(observed.count)", 4) + "  ").adding(fitting(observed.what, 34), .cyan)
          .adding(" " + fitting(observed.place, 28)).adding(observed.who, .dim)
      }
  }

  private func time(_ microseconds: Double) -> String { "\(decimal(microseconds, 1)) µs" }
}
