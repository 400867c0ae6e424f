// The source lines of the calls in reports. A report names the modules of its calls with their build-ids, and the program's file.
import Foundation

struct ReportLines {
  /// Why there are calls without lines, a sentence each.
  private(set) var missing: [String] = []
  private let given: [String]

  /// - Parameter given: Files of modules, or folders.
  init(searching given: [String]) { self.given = given }

  /// Returns a log with source lines in its reports.
  mutating func symbolized(_ log: String) -> String {
    var (result, report): (String, [Substring]) = ("", [])
    for line in log.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.prefixMatch(of: #/KVO\d{4} /#) != nil || line.hasPrefix("{\"schema\":") {
        result += symbolized(report: report)
        report = []
      }
      report.append(line)
    }
    result += symbolized(report: report)
    return String(result.dropLast())
  }

  /// Returns the lines from the first one of a report to the next report, each with its line break.
  private mutating func symbolized(report: [Substring]) -> String {
    let text = report.map { $0 + "\n" }.joined()
    var offsets: [String: Set<String>] = [:]
    for match in text.matches(of: Self.call) { offsets[String(match.1), default: []].insert(String(match.2)) }
    for match in text.matches(of: Self.callInJSON) { offsets[String(match.2), default: []].insert(String(match.3)) }
    var lines: [String: String] = [:]
    for (module, offsets) in offsets {
      guard let buildID = Self.buildID(of: module, in: text) else { continue }
      guard let file = file(of: module, buildID, program: Self.program(in: text)) else { continue }
      guard let found = SourceLines.ask(file, offsets.sorted()) else {
        note("There are no source lines without llvm-symbolizer; it is a part of LLVM and of Swift's toolchains")
        break
      }
      for (offset, line) in found { lines["\(module)+\(offset)"] = line }
    }
    return text.replacing(Self.call) { match in lines["\(match.1)+\(match.2)"].map { " " + $0 } ?? String(match.0) }
      .replacing(Self.callInJSON) { match in
        lines["\(match.2)+\(match.3)"].map { "\(match.1),\"line\":\"\($0)\"" } ?? String(match.0)
      }
  }

  private mutating func note(_ sentence: String) {
    if !missing.contains(sentence) { missing.append(sentence) }
  }

  /// With the space before it, so that a long word without spaces is searched once.
  private nonisolated(unsafe) static let call = #/ ([^ \n"]+)\+(0x[0-9a-f]+)/#
  private nonisolated(unsafe) static let callInJSON =
    #/("module":"([^"]+)","offset":"(0x[0-9a-f]+)","buildId":"[0-9a-f]+")/#

  private static func buildID(of module: String, in report: String) -> String? {
    let name = NSRegularExpression.escapedPattern(for: module)
    let inText = try? Regex("[ ,]" + name + " build-id ([0-9a-f]+)")
    let inJSON = try? Regex("\"module\":\"" + name + #"","offset":"[^"]*","buildId":"([0-9a-f]+)""#)
    return [inText, inJSON].lazy.compactMap { $0.flatMap(report.firstMatch(of:))?.output[1].substring.map(String.init) }
      .first
  }

  private static func program(in report: String) -> String? {
    report.firstMatch(of: #/\n  process \d+ (/[^\n]*), \d{4}-/#).map { String($0.1) }
      ?? report.firstMatch(of: #/"program":"([^"]+)"/#).map { String($0.1) }
  }

  // MARK: - Files

  /// Finds the file of a module that has the build-id.
  private mutating func file(of module: String, _ buildID: String, program: String?) -> String? {
    let folders = [program.map(OutputFile.folder(of:))].compactMap(\.self) + Self.libraryFolders
    let candidates =
      given.flatMap { [$0, $0 + "/" + module] } + folders.map { $0 + "/" + module }
    if let file = candidates.first(where: { Self.has($0, buildID) }) { return file }
    note("\(module): no file with build-id \(buildID) was found; specify it with --binary")
    return nil
  }

  private static let libraryFolders = [
    "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/local/lib", "/usr/lib64", "/usr/lib", "/lib64",
    "/lib",
  ]

  /// Whether a file has a note with the build-id: the header of such a note, "GNU", and the id.
  static func has(_ path: String, _ buildID: String) -> Bool {
    var id: [UInt8] = []
    for pair in buildID.matches(of: #/[0-9a-f]{2}/#) { id.append(UInt8(pair.0, radix: 16)!) }
    var isThere = stat()
    guard stat(path, &isThere) == 0, isThere.st_mode & S_IFMT == S_IFREG,
      let content = try? Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
    else { return false }
    return content.range(of: Data("GNU\0".utf8 + id)) != nil
  }
}
