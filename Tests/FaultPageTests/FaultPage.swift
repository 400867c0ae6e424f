// A page of Documentation/Faults with its code blocks, and the code of this folder and of CFaultPages that they are taken from.
import Foundation
import Testing

struct FaultPage {
  static let folder = URL(fileURLWithPath: #filePath)
    .appendingPathComponent("../../../Documentation/Faults").standardized

  let url: URL

  static func name(_ code: Int) -> String { "KVO" + String(String(10000 + code).dropFirst()) }

  init(_ code: Int) { self.init(name: Self.name(code)) }

  init(name: String) { url = Self.folder.appendingPathComponent("\(name).md") }

  static func text(_ url: URL) throws -> String { try String(contentsOf: url, encoding: .utf8) }

  /// Replaces what differs: addresses, IDs and threads change with each run, and source locations with each edit. A page has an
  /// ellipsis for them, and an example file name.
  private static func normalised(_ line: String) -> String {
    line.replacing(#/0x[0-9a-f]+/#, with: "0x…").replacing(#/thread [0-9]+/#, with: "thread …")
      .replacing(#/[0-9]+ deep/#, with: "… deep").replacing(#/[^ (]+\.(swift|c):([0-9]+)/#) { "main.\($0.1):…" }
  }

  /// Expects the page to show a report's first line.
  func expectReport(_ line: String) throws {
    let (line, text) = (Self.normalised(line), try Self.text(url))
    guard ProcessInfo.processInfo.environment["KVO_BLESS_PAGES"] != nil else {
      #expect(text.contains("```text\n\(line)\n"), "\(url.lastPathComponent) does not show: \(line)")
      return
    }
    let shown = text.replacing(#/```text\nKVO[0-9]{4} .*\n/#, maxReplacements: 1) { _ in "```text\n\(line)\n" }
    try shown.write(to: url, atomically: true, encoding: .utf8)
  }

  /// Returns the code blocks in Swift and in C.
  func blocks() throws -> [String] {
    var (blocks, open): ([String], [Substring]?) = ([], nil)
    for line in try Self.text(url).split(separator: "\n", omittingEmptySubsequences: false) {
      if line == "```swift" || line == "```c" {
        open = []
      } else if line == "```", let lines = open {
        blocks.append(lines.joined(separator: "\n"))
        open = nil
      } else {
        open?.append(line)
      }
    }
    return blocks
  }

  /// Returns the lines between `page: KVO0001 …` and `page end` in the sources, without indentation, by the name of the page.
  static func regions() throws -> [String: [String]] {
    let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let files = try [here, here.appendingPathComponent("../CFaultPages").standardized].flatMap {
      try FileManager.default.contentsOfDirectory(at: $0, includingPropertiesForKeys: nil)
    }
    var regions: [String: [String]] = [:]
    for file in files where ["swift", "c"].contains(file.pathExtension) {
      var open: (page: String, indentation: Int, lines: [String])?
      for line in try text(file).split(separator: "\n", omittingEmptySubsequences: false) {
        let mark = line.trimmingCharacters(in: .whitespaces.union(["/", "*"]))
        if mark.hasPrefix("page: ") {
          #expect(open == nil, "\(file.lastPathComponent): \(mark) within another")
          open = (String(mark.split(separator: " ")[1]), line.prefix { $0 == " " }.count, [])
        } else if mark == "page end", let region = open {
          regions[region.page, default: []].append(region.lines.joined(separator: "\n"))
          open = nil
        } else if open != nil {
          open!.lines.append(String(line.dropFirst(open!.indentation)))
        }
      }
      #expect(open == nil, "\(file.lastPathComponent) has a region without an end")
    }
    return regions
  }
}
