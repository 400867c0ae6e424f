// kvo view: coalesced changes, which have a slice where they are made and one where their observers are notified.
import Testing

@testable import KVOTool

@Suite("kvo view of coalesced changes")
struct CoalescedViewTests {
  /// Each of 25 items sets the total of a bill, which a scope coalesces; the total notifies the items, of which none sets it then.
  private func coalesced() -> String {
    var written = Written()
    for row in 0..<25 {
      written.set("Item@0xa\(row)", "price") { written in
        written.notify(100 + row, "Item@0xa\(row)", "price", "Bill@0x2", line: 10) { written in
          if row == 0 { written.pause("Bill@0x2", "total") }
        }
      }
    }
    written.resume("Bill@0x2", "total", calls: "update()  shop+0x10") { written in
      for row in 0..<25 { written.notify(200 + row, "Bill@0x2", "total", "Item@0xa\(row)", line: 30) }
    }
    return written.text
  }

  @Test func `A coalesced change is one set, and what it notifies counts at the end of the scope`() throws {
    let (_, findings, data) = try found(coalesced())
    #expect(findings.repeated.isEmpty)
    let first = try #require(findings.avalanches.first)
    #expect(findings.avalanches.count == 1)
    #expect(first.title == "set Bill.total (set earlier)")
    #expect(first.by?.hasPrefix("update()") == true, "\(first.by ?? "")")
    #expect((first.sets, first.notifications) == (1, 25))
    #expect(data.facts.contains("26 sets"), "\(data.facts)")
    #expect(data.strings.contains("set Bill.total (notifies later)"))
  }

  @Test func `The observer that makes a coalesced change sets it in the picture, not who ends the scope`() throws {
    let picture = try found(coalesced()).picture
    let sets = picture.edges.filter { $0.kind == .sets && $0.keys["total"] != nil }
    #expect(sets.map(\.calls) == [1])
    #expect(sets.first.map { picture.nodes[$0.from].name } == "Bill")
    #expect(picture.circles.isEmpty, "\(picture.circles)")
  }

  @Test func `A change that scopes coalesce again and again in one set counts once for each, by who set it first`()
    throws
  {
    var written = Written()
    written.set("Shop@0x1", "rate") { written in
      for round in 0..<3 {
        written.notify(100 + round, "Shop@0x1", "rate", "Bill@0x2", line: 10) { written in
          written.set("Item@0x3", "price") { written in
            written.notify(150, "Item@0x3", "price", "Bill@0x2", line: 12) { written in
              // An observer was added in between: there are two of each.
              for _ in 0..<2 { written.pause("Bill@0x2", "total") }
            }
          }
          for other in 0..<2 {
            written.resume("Bill@0x2", "total") { written in written.notify(200 + other, "Bill@0x2", "total", line: 30)
            }
          }
        }
      }
    }
    let (picture, findings, data) = try found(written.text)
    let repeated = try #require(findings.repeated.first)
    #expect(repeated.text == "Bill.total of one object, within one “set Shop.rate”")
    #expect(repeated.detail == "by: Bill (App.swift:12) is notified of price")
    #expect(repeated.count == 6)
    let sets = picture.edges.filter { $0.kind == .sets && $0.keys["total"] != nil }
    #expect(sets.map(\.calls) == [6])
    #expect(data.facts.contains("10 sets"), "\(data.facts)")
  }
}
