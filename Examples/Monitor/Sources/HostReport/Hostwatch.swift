// The command: its options, and one run from the first sample to the summary.
import ArgumentParser
import Foundation
import HostModel
import KeyValueObserving

package struct Hostwatch: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "hostwatch",
    abstract: "Watches this machine through key-value observing.",
    discussion: """
      A model of the machine is filled from /proc at each sample. Observers of the model print everything that is printed \
      during the run. The run also starts a short-lived process of its own, to show how an observation ends when its \
      object is deallocated.
      """)

  @Option(help: "How long to watch, in seconds.")
  var seconds = 5.0

  @Option(help: "The time between samples in seconds, at least 0.01.")
  var interval = 0.5

  @Flag(help: "Print one JSON object per line for each event, and a summary object at the end.")
  var json = false

  @Option(help: "Write changes and the notified observers to this file as a Chrome trace, for ui.perfetto.dev.")
  var trace: String?

  @Option(help: "Write the observations at the end to this file: .dot for Graphviz, .mmd for Mermaid, otherwise JSON.")
  var graph: String?

  @Option(help: .hidden)
  var proc = "/proc"

  package init() {}

  package func validate() throws {
    guard seconds.isFinite, seconds > 0, seconds <= 86_400 else {
      throw ValidationError("--seconds has to be more than 0 and at most 86400 (a day).")
    }
    guard interval.isFinite, interval >= 0.01 else {
      throw ValidationError("--interval has to be at least 0.01 seconds.")
    }
    guard interval <= seconds else {
      throw ValidationError("--interval (\(interval)) must not be longer than --seconds (\(seconds)).")
    }
  }

  package func run() throws {
    try beginTrace()
    let interruption = Interruption()
    let journal = Journal(
      json ? .json : .human, write: Self.writing(.standardOutput), warn: Self.writing(.standardError))
    let host = Machine()
    let sampler = Sampler(host, folder: ProcFolder(path: proc))
    let watch = Watch(host, journal)

    let start = DispatchTime.now()
    sampler.sample()
    guard sampler.hasRead else {
      Self.writing(.standardError)("hostwatch: nothing can be read from \(proc); is it mounted?")
      throw ExitCode.failure
    }
    let child = startChild()
    defer { child?.end() }
    sampler.spotlightPID = child?.pid

    var isInterrupted = false
    var elapsed = 0.0
    while elapsed < seconds, !isInterrupted {
      // The last sample is at the end, even if the duration is not a multiple of the interval.
      elapsed = min(Double(host.samples) * interval, seconds)
      isInterrupted = !interruption.wait(until: start + elapsed)
      if !isInterrupted { sampler.sample() }
    }
    try writePictures()
    journal.tell(
      .summary(
        journal.summary(
          samples: host.samples, sets: sampler.sets, interrupted: isInterrupted, peak: watch.peak,
          calibration: .measure())))
  }

  private func beginTrace() throws {
    guard let trace else { return }
    do {
      try ObservationTrace.begin(writingTo: trace)
    } catch {
      throw ValidationError("--trace: \(trace) cannot be written.")
    }
  }

  /// Called while the observers are still registered.
  private func writePictures() throws {
    if trace != nil { try ObservationTrace.end() }
    guard let graph else { return }
    let picture = ObservationGraph.current()
    let file = URL(fileURLWithPath: graph)
    let text =
      switch file.pathExtension {
      case "dot": picture.dot
      case "mmd": picture.mermaid
      default: picture.json
      }
    do {
      try text.write(to: file, atomically: true, encoding: .utf8)
    } catch {
      throw ValidationError("--graph: \(graph) cannot be written: \(error.localizedDescription)")
    }
  }

  /// Starts a child that lives long enough to be sampled and, if there is a second sample, exits before the last one.
  private func startChild() -> ShortLivedChild? {
    guard proc == "/proc" else { return nil }
    do {
      return try ShortLivedChild(seconds: max(1.2 * interval, 0.6 * seconds))
    } catch {
      Self.writing(.standardError)("hostwatch: cannot start /bin/sleep to watch: \(error.localizedDescription)")
      return nil
    }
  }

  /// Writes lines without buffering, so that a reader of a pipe sees the progress too.
  private static func writing(_ file: FileHandle) -> @Sendable (String) -> Void {
    { try? file.write(contentsOf: Data(($0 + "\n").utf8)) }
  }
}
