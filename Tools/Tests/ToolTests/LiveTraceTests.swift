// kvo trace: what it writes, also if it is interrupted or the program is killed.
import Foundation
import Testing

@testable import KVOTool

@Suite("kvo trace")
final class LiveTraceTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kvo-\(UUID().uuidString)").path

  init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  @Test func `kvo trace writes a trace of the next moments`() throws {
    let program = try ServedProgram(socket: "1")
    let said = try kvo("trace", program.name, "--seconds", "0.3", in: folder)
    #expect(said.status == 0)
    // A busy machine ends the recording a little later.
    let seconds = said.errors.wholeMatch(of: /served \(process (\d+)\): (\d+\.\d) s, .*\n/)
    #expect(seconds?.1 == "\(program.pid)" && seconds.map { Double($0.2)! >= 0.3 } == true, "\(said.errors)")
    let data = try #require(FileManager.default.contents(atPath: "\(folder)/trace-\(program.pid).json"))
    let events = try #require(JSONSerialization.jsonObject(with: data) as? [[String: Any]])
    #expect(events.contains { $0["name"] as? String == "set Document.title" })
  }

  /// Begins to record a minute into "run.json", does something after a moment, and returns what the tool said.
  private func record(
    _ program: ServedProgram, _ meanwhile: (Process) -> Void
  ) throws -> (status: Int32, errors: String) {
    let tool = Process()
    tool.executableURL = built("kvo")
    tool.arguments = ["trace", program.name, "--seconds", "60", "-o", "\(folder)/run.json"]
    let errors = Pipe()
    tool.standardError = errors
    try tool.run()
    // The tool has the file in memory open, so it records.
    try waitUntil {
      let files = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(tool.processIdentifier)/fd")) ?? []
      return files.contains {
        let file = "/proc/\(tool.processIdentifier)/fd/\($0)"
        return (try? FileManager.default.destinationOfSymbolicLink(atPath: file))?.hasPrefix("/memfd:kvo-trace") == true
      }
    }
    usleep(300_000)
    meanwhile(tool)
    let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    tool.waitUntilExit()
    return (tool.terminationStatus, said)
  }

  private func written() throws -> Trace {
    let path = "\(folder)/run.json"
    let data = try #require(FileManager.default.contents(atPath: path))
    return Trace(try TraceFile(data, name: path))
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `A recording that is interrupted is written up to there`(signal: Int32) throws {
    let program = try ServedProgram(socket: "1")
    let said = try record(program) { kill($0.processIdentifier, signal) }
    #expect(said.status == 0)
    let line = #/served \(process \d+\): [\d.]+ s, \d+ bytes in .*run\.json; interrupted\n/#
    #expect(said.errors.contains(line), "\(said.errors)")
    let trace = try written()
    #expect(trace.slices.contains { $0.event.name == "set Document.title" })
    #expect(trace.openCount == 0, "the program ends the recording first")
    let again = try kvo("trace", program.name, "--seconds", "0.1", in: folder)
    #expect(again.status == 0, "the program can be traced again: \(again.errors)")
  }

  @Test func `Of a program that is killed the trace is written, and it is said that it is cut off`() throws {
    let program = try ServedProgram(socket: "1")
    let said = try record(program) { _ in kill(program.pid, SIGKILL) }
    #expect(said.status == 0)
    #expect(said.errors.contains("run.json; the process has ended: the trace is cut off there"), "\(said.errors)")
    #expect(try written().slices.contains { $0.event.name == "set Document.title" })
    #expect(try kvo("view", "\(folder)/run.json", "-o", "\(folder)/run.html").status == 0)
  }

  @Test func `A file that cannot be written is refused before anything is recorded`() throws {
    let program = try ServedProgram(socket: "1")
    let begun = ContinuousClock.now
    for (path, reason) in [
      ("/nodir/run.json", "there is no folder /nodir"), (folder, "it is a folder"),
      ("/dev/null/x", "/dev/null is no folder"),
    ] {
      let said = try kvo("trace", program.name, "--seconds", "30", "-o", path)
      #expect(said.status == 1)
      #expect(said.errors.contains("Cannot write \(path): \(reason)."), "\(said.errors)")
      #expect(try kvo("graph", program.name, "-o", path).errors.contains("Cannot write \(path): \(reason)."))
    }
    #expect(ContinuousClock.now - begun < .seconds(25))
  }
}
