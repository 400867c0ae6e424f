// Programs that run while the tool looks at them.
import Foundation
import Testing

/// A program that is built into the same folder as this one.
func built(_ name: String) -> URL {
  URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    .appendingPathComponent(name)
}

/// The program "served", in a process of its own.
final class ServedProgram {
  let process = Process()
  private let input = Pipe()
  private(set) var pid: Int32 = 0
  var name: String { "\(pid)" }

  init(socket: String?, arguments: [String] = []) throws {
    process.executableURL = built("served")
    var environment = ProcessInfo.processInfo.environment
    environment["KVO_SOCKET"] = socket
    process.environment = environment
    process.arguments = arguments
    process.standardInput = input
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    pid = try #require(
      Int32(String(decoding: output.fileHandleForReading.availableData, as: UTF8.self).prefix { $0.isNumber }))
  }

  func end() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  deinit { end() }
}

/// Runs the tool "kvo" in a process of its own.
func kvo(_ arguments: String..., in folder: String? = nil, environment: [String: String] = [:]) throws -> (
  status: Int32, output: String, errors: String
) {
  let process = Process()
  process.executableURL = built("kvo")
  process.arguments = arguments
  process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
  if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
  let (output, errors) = (Pipe(), Pipe())
  process.standardOutput = output
  process.standardError = errors
  try process.run()
  let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  let complaint = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  process.waitUntilExit()
  return (process.terminationStatus, text, complaint)
}

/// Waits for a condition for at most a minute.
func waitUntil(_ condition: () -> Bool) throws {
  let deadline = Date(timeIntervalSinceNow: 60)
  while !condition(), Date() < deadline { usleep(1000) }
  try #require(condition())
}
