// A child process that starts and ends during the run, so that there is always one to observe.
import Foundation

final class ShortLivedChild {
  private let process = Process()

  /// Starts `/bin/sleep` for a number of seconds.
  init(seconds: Double) throws {
    process.executableURL = URL(fileURLWithPath: "/bin/sleep")
    process.arguments = [String(format: "%.3f", seconds)]
    process.standardInput = FileHandle.nullDevice
    try process.run()
  }

  var pid: Int32 { process.processIdentifier }

  /// Terminates the process if it still runs when the run ends early.
  func end() {
    if process.isRunning { process.terminate() }
  }
}
