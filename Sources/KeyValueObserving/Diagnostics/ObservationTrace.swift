// The recorder of what happens: who sets what, who is told, and who sets what in turn.

import CKVO

/// Records changes and notifications into a file, as a Chrome trace, which <https://ui.perfetto.dev> opens.
///
/// Each thread has nested slices: a change, such as `set Host.load`; within it the observers that are told, such as
/// `observer Watch.swift:41 (load)`; within them what they change in turn. Marks show where observations begin and end, and where
/// observed objects die. Arguments tell object, observation and place, and with the environment's `KVO_VALUES=1` the new value.
///
/// ```swift
/// try ObservationTrace.begin(writingTo: "trace.json")
/// document.title = "Draft"
/// try ObservationTrace.end()
/// ```
///
/// There is one recording at a time in a process, of all its threads. Without one, observing costs what it always does. Our
/// addition; Apple's platforms have nothing of the kind.
public enum ObservationTrace {
  /// Why a recording could not begin, or is not complete.
  public enum Failure: Error, Hashable, Sendable {
    /// A recording is going on already.
    case isRecording
    /// The file cannot be written, or is no regular file; at the end of a recording: not all could be written.
    case fileCannotBeWritten
  }

  /// Begins a recording into a file, which is made, or made empty.
  ///
  /// However the process ends, the file is valid JSON. If it exits, or a fault ends it, everything is in the file; if it is killed,
  /// the last moments are missing. The child of a fork is not recorded. Safe on any thread.
  ///
  /// - Parameter path: The path of the file; a relative one is looked up in the working directory.
  public static func begin(writingTo path: String) throws(Failure) {
    switch kvo_trace_begin(path) {
    case KVO_OK: break
    case KVO_ERROR_BUSY: throw .isRecording
    default: throw .fileCannotBeWritten
    }
  }

  /// Ends the recording; without one it does nothing. Slices that are not over end here. Safe on any thread.
  public static func end() throws(Failure) {
    guard kvo_trace_end() == KVO_OK else { throw .fileCannotBeWritten }
  }
}
