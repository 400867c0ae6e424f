// The source lines of calls that a trace names by module and offset, from the debug information of the module's file.
import Foundation

struct SourceLines {
  private var lines: [String: String] = [:]

  /// Asks llvm-symbolizer once per module. Without it, or if a module's file has another build-id now, calls keep their function names.
  init(of trace: Trace) {
    var offsets: [String: Set<String>] = [:]
    for call in trace.slices.lazy.compactMap({ $0.arguments?.calls }).joined() {
      guard let (_, module, offset) = Self.parts(call) else { continue }
      offsets[module, default: []].insert(offset)
    }
    for (module, offsets) in offsets {
      guard let (path, buildID) = trace.modules[module], ReportLines.has(path, buildID) else { continue }
      for (offset, line) in Self.ask(path, offsets.sorted()) ?? [] { lines["\(module)+\(offset)"] = line }
    }
  }

  /// Such as `edit(_:) at Editor.swift:12`; without a line `App.Editor.edit(_:)`.
  func describe(_ call: String) -> String {
    guard let (function, module, offset) = Self.parts(call) else { return call }
    let place = "\(module)+\(offset)"
    guard let line = lines[place] else { return function.isEmpty ? place : function }
    return function.isEmpty ? line : "\(function) at \(line)"
  }

  /// Splits `App.Editor.edit(_:)  editor+0x204f3`.
  private static func parts(_ call: String) -> (function: String, module: String, offset: String)? {
    let halves = call.components(separatedBy: "  ")
    guard let place = halves.last, let plus = place.lastIndex(of: "+") else { return nil }
    return (
      halves.dropLast().joined(separator: "  "), String(place[..<plus]), String(place[place.index(after: plus)...])
    )
  }

  private struct Answer: Decodable {
    struct Symbol: Decodable { var FileName: String, Line: Int }
    var Address: String
    var Symbol: [Symbol]?
  }

  /// Returns the offsets of a module's file that have a source line, with the line, such as `Editor.swift:12`; `nil` without
  /// llvm-symbolizer.
  static func ask(_ path: String, _ offsets: [String]) -> [(String, String)]? {
    let process = Process()
    let (input, output) = (Pipe(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["llvm-symbolizer", "--obj=" + path, "--output-style=JSON"] + offsets
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return nil }
    try? input.fileHandleForWriting.close()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    if process.terminationStatus == 127 { return nil }  // env(1) has not found it
    guard let answers = try? JSONDecoder().decode([Answer].self, from: data) else { return [] }
    return answers.compactMap { answer in
      // An inlined setter comes before the function that it was inlined into.
      let symbol = answer.Symbol?.first {
        $0.Line > 0 && !$0.FileName.contains("@__swiftmacro") && !$0.FileName.hasPrefix("<")
      }
      return symbol.map { (answer.Address, "\(URL(fileURLWithPath: $0.FileName).lastPathComponent):\($0.Line)") }
    }
  }
}
