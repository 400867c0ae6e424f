// A trace recorder: which code sets a property, which observers it notifies, and what these set in turn.

import CKVO

/// Records changes and notifications to a file in Chrome's trace format, which <https://ui.perfetto.dev> opens.
///
/// Each thread has nested slices: a change, such as `set Host.load`; within it the observers it notifies, such as `observer
/// Watch.swift:41 (load)`; within these the changes that they make. Instant events mark where observations begin and end, and where
/// observed objects are deallocated, and reported faults. Arguments give the object, the observation and the source location, and, with
/// `KVO_VALUES=1` in the environment, the new value. The outermost change of a thread names the functions that made it. A change that a
/// scope coalesces has two slices: the first, where it is made, has the argument `paused`, the second, at the end of the scope, `resumed`.
/// `kvo view` shows the file together with the graph.
///
/// ```swift
/// try ObservationTrace.begin(writingTo: "trace.json")
/// document.title = "Draft"
/// try ObservationTrace.end()
/// ```
///
/// A process has at most one recording at a time, of all its threads. Without one, there is no additional cost. The type is an
/// addition; Apple's platforms have no equivalent.
public enum ObservationTrace {
  /// The reason why a recording could not begin or is incomplete.
  public enum Failure: Error, Hashable, Sendable {
    /// A recording is already in progress.
    case isRecording
    /// The file cannot be written or is not a regular file; at the end of a recording: some of the data could not be written.
    case fileCannotBeWritten
  }

  /// Begins recording to a file, which is created or truncated.
  ///
  /// The file is valid JSON however the process ends. If the process exits or a fault ends it, the file is complete; if it is
  /// killed, the last events are missing. After a fork, the child process is not recorded. Safe on any thread.
  ///
  /// - Parameter path: The path of the file, absolute or relative to the working directory.
  public static func begin(writingTo path: String) throws(Failure) {
    switch kvo_trace_begin(path) {
    case KVO_OK: break
    case KVO_ERROR_BUSY: throw .isRecording
    default: throw .fileCannotBeWritten
    }
  }

  /// Ends the recording, and all slices still open. Without a recording it does nothing. Safe on any thread.
  public static func end() throws(Failure) {
    guard kvo_trace_end() == KVO_OK else { throw .fileCannotBeWritten }
  }
}
