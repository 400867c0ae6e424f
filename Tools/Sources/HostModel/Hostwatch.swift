// The command: its options, and one run from the first sample to the summary.
import ArgumentParser
import Foundation
import KeyValueObserving

package struct Hostwatch: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "hostwatch",
    abstract: "Watches this machine through key-value observing.",
    discussion: """
      A model of the machine is filled from /proc, sample by sample. Everything printed during the run is printed by \
      observers of the model. The run also starts a short-lived process of its own, to show what becomes of an \
      observation whose object dies.
      """)

  @Option(help: "How long to watch, in seconds.")
  var seconds = 5.0

  @Option(help: "Seconds from one sample to the next, at least 0.01.")
  var interval = 0.5

  @Flag(help: "Print one JSON object per line for each event, and a summary object at the end.")
  var json = false

  @Option(help: "Write what is set and who is told to this file, as a Chrome trace; ui.perfetto.dev opens it.")
  var trace: String?

  @Option(help: "Write who observes what at the end to this file: .dot for Graphviz, .mmd for Mermaid, else JSON.")
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
    let host = Host()
    let sampler = Sampler(host, folder: ProcFolder(path: proc))
    let watch = Watch(host, journal)

    let start = DispatchTime.now()
    sampler.sample()
    guard sampler.hasRead else {
      Self.writing(.standardError)("hostwatch: nothing at all can be read from \(proc); is it mounted?")
      throw ExitCode.failure
    }
    let child = startChild()
    defer { child?.end() }
    sampler.spotlightPID = child?.pid

    var isInterrupted = false
    var elapsed = 0.0
    while elapsed < seconds, !isInterrupted {
      // The last one is at the end, also when the interval does not divide the time.
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

  /// While the observers are still there.
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

  /// Lives long enough to be seen by a sample, and is gone before the last one if there is a second.
  private func startChild() -> ShortLivedChild? {
    guard proc == "/proc" else { return nil }
    do {
      return try ShortLivedChild(seconds: max(1.2 * interval, 0.6 * seconds))
    } catch {
      Self.writing(.standardError)("hostwatch: cannot start /bin/sleep to watch: \(error.localizedDescription)")
      return nil
    }
  }

  /// Writes lines at once: a reader at the other end of a pipe is to see the progress too.
  private static func writing(_ file: FileHandle) -> @Sendable (String) -> Void {
    { try? file.write(contentsOf: Data(($0 + "\n").utf8)) }
  }
}
