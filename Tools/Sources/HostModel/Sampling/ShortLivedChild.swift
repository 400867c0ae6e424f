// A process of our own that appears and dies during the run, so that there always is one to watch.
import Foundation

final class ShortLivedChild {
  private let process = Process()

  /// `/bin/sleep`, for so many seconds.
  init(seconds: Double) throws {
    process.executableURL = URL(fileURLWithPath: "/bin/sleep")
    process.arguments = [String(format: "%.3f", seconds)]
    process.standardInput = FileHandle.nullDevice
    try process.run()
  }

  var pid: Int32 { process.processIdentifier }

  /// Ends it, if it still runs, when the run ends early.
  func end() {
    if process.isRunning { process.terminate() }
  }
}
