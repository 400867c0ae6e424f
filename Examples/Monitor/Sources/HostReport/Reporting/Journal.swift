// The journal of a run: counts notifications and writes events as human-readable lines or as JSON.
import HostModel
import Synchronization

final class Journal: Sendable {
  enum Format { case human, json }

  fileprivate struct State {
    var human = HumanLines()
    var notifications = 0
    var appeared = 0
    var disappeared = 0
    var unreadable = 0
  }

  private let format: Format
  private let start = ContinuousClock.now
  private let write: @Sendable (String) -> Void
  private let warn: @Sendable (String) -> Void
  private let state = Mutex(State())

  /// Creates a journal; `write` receives the lines for stdout and `warn` those for stderr, without the newline.
  init(
    _ format: Format, write: @escaping @Sendable (String) -> Void, warn: @escaping @Sendable (String) -> Void
  ) {
    self.format = format
    self.write = write
    self.warn = warn
  }

  var notifications: Int { state.withLock { $0.notifications } }

  /// Counts a call of an observer and writes its event, if there is one.
  func notified(_ event: Event? = nil) {
    state.withLock { $0.notifications += 1 }
    if let event { tell(event) }
  }

  /// Writes an event that is not a notification.
  func tell(_ event: Event) {
    if case .unreadable(let problem) = event { warn("hostwatch: \(printable(problem.path)): \(problem.reason)") }
    let elapsed = self.elapsed
    let lines = state.withLock { state in
      state.count(event)
      return format == .json
        ? [JSONLine(elapsed: elapsed, event: event).text()] : state.human.lines(for: event, elapsed: elapsed)
    }
    lines.forEach(write)
  }

  func summary(
    samples: Int, sets: Int, interrupted: Bool, peak: PeakMemory.Peak?, calibration: Calibration
  ) -> Summary {
    state.withLock { state in
      Summary(
        samples: samples, sets: sets, notifications: state.notifications, interrupted: interrupted,
        peakUsedBytes: peak?.bytes, peakUsedFraction: peak?.fraction, processesAppeared: state.appeared,
        processesDisappeared: state.disappeared, unreadable: state.unreadable, calibration: calibration)
    }
  }

  private var elapsed: Double {
    let components = (ContinuousClock.now - start).components
    return Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}

extension Journal.State {
  mutating func count(_ event: Event) {
    switch event {
    case .insertion(let processes, _): appeared += processes.count
    case .removal(let processes, _): disappeared += processes.count
    case .unreadable: unreadable += 1
    default: break
    }
  }
}
