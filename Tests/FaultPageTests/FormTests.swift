// The form of Documentation/Faults: one page for each fault of the runtime, with all sections, and code that the tests run.
import CKVO
import Foundation
import KeyValueObserving
import Testing

@Suite("The pages of faults")
struct FormTests {
  /// Unused fault numbers; their pages give the reason.
  private static let neverReported = [6, 13]

  private func pages() throws -> [String] {
    try FileManager.default.contentsOfDirectory(at: FaultPage.folder, includingPropertiesForKeys: nil)
      .map { $0.deletingPathExtension().lastPathComponent }.filter { $0 != "README" }.sorted()
  }

  private func kinds() -> [kvo_fault_kind] {
    var kinds: [kvo_fault_kind] = []
    while let kind = kvo_fault_kind_at(kinds.count) { kinds.append(kind.pointee) }
    return kinds
  }

  private func lines(_ page: String) throws -> [String] {
    try FaultPage.text(FaultPage(name: page).url).split(separator: "\n", omittingEmptySubsequences: false)
      .map(String.init)
  }

  @Test func `Each fault has a page, and there are no others except for codes that are never reported`() throws {
    let numbers = kinds().map { Int($0.code.rawValue) } + Self.neverReported
    #expect(try pages() == numbers.sorted().map(FaultPage.name))
  }

  @Test func `A page has the code, meaning, severity and exception that the runtime has`() throws {
    for kind in kinds() {
      let name = FaultPage.name(Int(kind.code.rawValue))
      let lines = try lines(name)
      #expect(lines.first == "# \(name) · \(String(cString: kind.meaning))")
      #expect(lines[2].hasPrefix("Severity: \(String(cString: kvo_severity_name(kind.severity)))."), "\(name)")
      if let exception = kind.exception.map({ String(cString: $0) }) {
        #expect(lines.joined(separator: "\n").contains("`\(exception)`"), "\(name)")
      }
    }
    for number in Self.neverReported {
      let lines = try lines(FaultPage.name(number))
      #expect(lines[0].hasPrefix("# \(FaultPage.name(number)) · ") && lines[2].hasPrefix("Severity: none."))
    }
  }

  @Test func `A kind is described by its code and its meaning, and one that does not exist by the code`() {
    for kind in kinds() {
      let number = Int(kind.code.rawValue)
      let description = "\(FaultPage.name(number)) (\(String(cString: kind.meaning)))"
      #expect(KeyValueFault.Kind(rawValue: number).description == description)
    }
    #expect(KeyValueFault.Kind(rawValue: 99).description == "KVO0099")
    #expect([KeyValueFault.Kind.notRegistered, .undefinedKey, .badCollectionChange].map(\.rawValue) == [2, 9, 40])
  }

  @Test func `A page has all sections in order, and none is empty`() throws {
    let needed = ["What happened", "Why it is a fault", "How it comes about", "Example", "Remedy", "See also"]
    for page in try pages() {
      let sections = try lines(page).joined(separator: "\n").components(separatedBy: "\n## ").dropFirst()
      let titles = sections.map { $0.components(separatedBy: "\n")[0] }
      #expect(titles.filter { $0 != "What is not detected" } == needed, "\(page)")
      for section in sections {
        #expect(section.split(separator: "\n").dropFirst().joined().count > 10, "\(page): \(section.prefix(30))")
      }
    }
  }

  @Test func `Lines have at most 120 columns, and links refer to files`() throws {
    for page in try pages() + ["README"] {
      for line in try lines(page) {
        #expect(line.count <= 120 || line.hasPrefix("|") || line.hasPrefix("KVO"), "\(page): \(line)")
        for match in line.matches(of: #/\]\(([^)#]+)\)/#) where !match.1.hasPrefix("http") {
          let url = FaultPage.folder.appendingPathComponent(String(match.1))
          #expect(FileManager.default.fileExists(atPath: url.path), "\(page): \(match.1)")
        }
      }
    }
  }

  @Test func `Each block of code is run or compiled by these tests, verbatim`() throws {
    let regions = try FaultPage.regions()
    for page in try pages() + ["README"] {
      #expect(try FaultPage(name: page).blocks().sorted() == (regions[page] ?? []).sorted(), "\(page)")
    }
    #expect(try Set(regions.keys).isSubset(of: pages() + ["README"]))
  }

  @Test func `The overview lists each page, and the page of each scenario of the catalogue`() throws {
    let readme = try lines("README")
    for page in try pages() { #expect(readme.contains { $0.hasPrefix("| [\(page)](\(page).md) |") }, "\(page)") }
    for number in 1...97 {
      let name = "K" + String(String(100 + number).dropFirst())
      let rows = readme.filter { $0.hasPrefix("| \(name) |") }
      #expect(rows.count == 1, "\(name)")
      #expect(rows.first.map { $0.split(separator: "|").count == 3 } ?? false, "\(name)")
    }
  }
}
