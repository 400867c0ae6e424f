// The other programs: peers in other languages, and the program that counts bytes.

import Foundation
import Rows

/// A peer that reads one request per line and is idle in between.
final class PeerProgram {
  private let name: String
  private let process = Process()
  private let (questions, answers) = (Pipe(), Pipe())
  private let lines: UnsafeMutablePointer<FILE>

  init(_ name: String) {
    self.name = name
    signal(SIGPIPE, SIG_IGN)
    process.executableURL = URL(fileURLWithPath: environment("KVO_BENCH_PEERS") + "/" + name)
    process.standardInput = questions
    process.standardOutput = answers
    do { try process.run() } catch { fail("cannot start the peer \(name): \(error)") }
    lines = fdopen(answers.fileHandleForReading.fileDescriptor, "r")
  }

  /// Measures a number of operations.
  func nanoseconds(_ row: String, _ count: Int) -> Double {
    do { try questions.fileHandleForWriting.write(contentsOf: Data("\(row) \(count)\n".utf8)) } catch {
      fail("the peer \(name) does not listen: \(error)")
    }
    var buffer = [CChar](repeating: 0, count: 256)
    guard fgets(&buffer, Int32(buffer.count), lines) != nil else { fail("the peer \(name) ended at row \(row)") }
    let answer = String(decoding: buffer.prefix { $0 != 0 && $0 != 10 }.map(UInt8.init), as: UTF8.self)
    guard let nanoseconds = Double(answer) else { fail("the peer \(name) says: \(answer)") }
    return nanoseconds
  }
}

/// Returns what `Counts bytes` prints for a footprint.
func countedBytes(ofFootprint index: Int) -> (ours: Double, theirs: Double) {
  let (process, output) = (Process(), Pipe())
  process.executableURL = URL(fileURLWithPath: environment("KVO_BENCH_COUNTS"))
  process.arguments = ["bytes", "\(index)"]
  process.standardOutput = output
  do { try process.run() } catch { fail("cannot start Counts: \(error)") }
  let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  let bytes = text.split { $0.isWhitespace }.compactMap { Double($0) }
  guard bytes.count == 2 else { fail("Counts says of footprint \(index): \(text)") }
  return (bytes[0], bytes[1])
}

func environment(_ name: String) -> String {
  guard let value = ProcessInfo.processInfo.environment[name] else { fail("\(name) is not set: run 'make bench'") }
  return value
}

func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data("benchmark: \(message)\n".utf8))
  exit(1)
}
