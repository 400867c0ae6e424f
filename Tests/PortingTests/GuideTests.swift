// Holds Documentation/Porting.md to the code of this folder: each block of Swift in it that is to work here is code that is built.
import Foundation
import Testing

@Suite("The porting guide")
struct GuideTests {
  private let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

  private func lines(_ url: URL) throws -> [Substring] {
    try String(contentsOf: url, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
  }

  /// What stands between `// guide: name` and `// guide end` in this folder's files, without its indentation.
  private func regions() throws -> [String: String] {
    var regions: [String: String] = [:]
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    for file in files where file.pathExtension == "swift" {
      var open: (name: String, indentation: Int, lines: [String])?
      for line in try lines(file) {
        let text = line.trimmingCharacters(in: .whitespaces)
        if text.hasPrefix("// guide: ") {
          #expect(open == nil, "\(file.lastPathComponent): \(text) within another")
          open = (String(text.dropFirst(10)), line.prefix { $0 == " " }.count, [])
        } else if text == "// guide end", let region = open {
          #expect(regions[region.name] == nil, "\(region.name) is there twice")
          regions[region.name] = region.lines.joined(separator: "\n")
          open = nil
        } else if open != nil {
          open!.lines.append(String(line.dropFirst(open!.indentation)))
        }
      }
      #expect(open == nil, "\(file.lastPathComponent) has a region without an end")
    }
    return regions
  }

  /// The blocks of the guide under `<!-- code: name -->`.
  private func blocks() throws -> [(name: String, code: String)] {
    let guide = folder.appendingPathComponent("../../Documentation/Porting.md").standardized
    var blocks: [(name: String, code: String)] = []
    var (name, code): (String?, [String]?) = (nil, nil)
    for line in try lines(guide) {
      if line.hasPrefix("<!-- code: "), line.hasSuffix(" -->") {
        name = String(line.dropFirst(11).dropLast(4))
      } else if line == "```swift", name != nil {
        code = []
      } else if line == "```", let block = code, let known = name {
        blocks.append((known, block.joined(separator: "\n")))
        (name, code) = (nil, nil)
      } else {
        code?.append(String(line))
      }
    }
    return blocks
  }

  @Test func `Each block of the guide that is to work here is code that is built and tested, word for word`() throws {
    let (regions, blocks) = (try regions(), try blocks())
    for block in blocks { #expect(block.code == regions[block.name], "\(block.name)") }
    #expect(Set(blocks.map(\.name)) == Set(regions.keys))
    #expect(!regions.isEmpty)
  }
}
