// kvo view: what it reads, what it refuses, and what it finds.
import ArgumentParser
import Foundation
import Testing

@testable import KVOTool

/// One set of a rate notifies rows, each of which sets a tax, which sets a total, which notifies all rows.
private func avalanche(rows: Int) -> Written {
  var written = Written()
  written.set("Shop@0x1", "rate", calls: "static Shop.App.raise(by:)  shop+0x10") { written in
    for row in 0..<rows {
      let object = "Row@0xa\(row)"
      written.notify(100 + row, "Shop@0x1", "rate", object, line: 10) { written in
        written.set(object, "tax") { written in
          written.notify(300 + row, object, "tax", "Bill@0x2", line: 20) { written in
            written.set("Bill@0x2", "total") { written in
              for other in 0..<rows { written.notify(500 + other, "Bill@0x2", "total", "Row@0xa\(other)", line: 30) }
            }
          }
        }
      }
    }
  }
  return written
}

@Suite("kvo view")
struct ViewTests {
  // MARK: - Files

  @Test(arguments: [
    ("", "is empty"), (" \n", "is empty"), ("hello", "is neither a trace nor a graph"),
    ("{}", "is neither a trace nor a graph"),
    ("[1]", "is neither a trace nor a graph"), (#"{"schema":1}"#, "is no graph"),
    ("[\n]\n", "is a trace without events"),
    ("[\n{\"ph\":\"B\"},\n{\"ph\":\"E\",\"tid\":1,\"ts\":1}\n]\n", "line 2, is no event of a trace"),
    (
      #"{"schema":1,"objects":[],"observations":[],"edges":[{"observation":0,"object":3,"key":"k","isValue":true}]}"#,
      "does not have"
    ),
  ])
  func `A file that is neither a trace nor a graph is refused, with the reason`(content: String, reason: String) throws
  {
    let path = FileManager.default.temporaryDirectory.appending(path: "view-\(UUID()).json").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try content.write(toFile: path, atomically: true, encoding: .utf8)
    let tool = try #require(try KVOTool.parseAsRoot(["view", path]) as? ViewTool)
    let failure = #expect(throws: ViewFailure.self) { try tool.html() }
    #expect(failure?.description.contains(reason) == true, "\(failure?.description ?? "")")
    #expect(throws: ExitCode(65)) { try tool.run() }
  }

  @Test func `A file that cannot be read is refused, and so are two traces and three files`() throws {
    let tool = try #require(try KVOTool.parseAsRoot(["view", "/nowhere/run.json"]) as? ViewTool)
    #expect(throws: ViewFailure.self) { try tool.html() }
    #expect(throws: (any Error).self) { try KVOTool.parseAsRoot(["view"]) }
    #expect(throws: (any Error).self) { try KVOTool.parseAsRoot(["view", "a", "b", "c"]) }
  }

  @Test func `A folder, a file that does not exist and one in no folder are named as such`() throws {
    let folder = FileManager.default.temporaryDirectory.path
    for (path, reason) in [
      (folder, "it is a folder"), ("\(folder)/no.json", "there is no such file"),
      ("/nodir/run.json", "there is no folder /nodir"),
    ] {
      let tool = try #require(try KVOTool.parseAsRoot(["view", path]) as? ViewTool)
      let failure = #expect(throws: ViewFailure.self) { try tool.html() }
      #expect(failure?.description == "\(path) cannot be read: \(reason)")
    }
  }

  @Test func `The page does not replace a file that is read, also not by another name of it`() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "view-\(UUID()).json").path
    let (link, page) = (path + ".link", path + ".html")
    defer { for each in [path, link, page] { try? FileManager.default.removeItem(atPath: each) } }
    let text = avalanche(rows: 2).text
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    for output in [path, link] {
      let tool = try #require(try KVOTool.parseAsRoot(["view", path, "-o", output]) as? ViewTool)
      #expect(throws: ExitCode(73)) { try tool.run() }
      #expect(throws: LiveError.self) { try OutputFile.check(output, inputs: ["/nowhere", path]) }
    }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    try OutputFile.check(page, inputs: [path])
  }

  @Test func `A trace that ends within an event is read up to there`() throws {
    let whole = avalanche(rows: 3).text
    let cut = try readTrace(String(whole.dropLast(40)))
    #expect(cut.isTruncated)
    #expect(cut.openCount == 1)
    #expect(try !readTrace(whole).isTruncated)
    #expect(try readTrace(whole).slices.count == cut.slices.count)
  }

  @Test func `A trace on one line, or inside an object, is read as well`() throws {
    let lines = avalanche(rows: 3).lines.joined(separator: ",")
    let count = try readTrace(avalanche(rows: 3).text).slices.count
    #expect(try readTrace("[\(lines)]").slices.count == count)
    #expect(try readTrace("{\"traceEvents\":[\(lines)]}").slices.count == count)
  }

  // MARK: - Findings

  @Test func `An avalanche is found, with the code that made it, its steps, and where it multiplies`() throws {
    let findings = try found(avalanche(rows: 5).text).findings
    let first = try #require(findings.avalanches.first)
    #expect(first.title == "set Shop.rate")
    #expect(first.by == "static Shop.App.raise(by:)")
    #expect(first.most == 5 + 5 + 25)
    #expect(
      first.steps.map(\.text) == [
        "set Shop.rate", "Row (App.swift:10) is notified of rate", "set Row.tax",
        "Bill (App.swift:20) is notified of tax",
        "set Bill.total", "Row (App.swift:30) is notified of total",
      ])
    #expect(first.steps.map(\.count) == [1, 5, 5, 5, 5, 25])
    #expect(
      first.cause
        == "It multiplies here: “set Shop.rate” notifies 5 observers; then each “set Bill.total” notifies 5 observers.")
    #expect(first.others.isEmpty)
  }

  @Test func `Of a circle all rounds are counted, not only the first one`() throws {
    var written = Written()
    func go(_ depth: Int, _ written: inout Written) {
      let (from, to) = depth % 2 == 0 ? ("Point@0x1", "Point@0x2") : ("Point@0x2", "Point@0x1")
      written.set(from, "x") { written in
        written.notify(depth % 2, from, "x", to) { written in if depth > 0 { go(depth - 1, &written) } }
        if depth % 2 == 0 { written.notify(7, from, "x", "Point@0x3") }
        if depth == 40 { written.notify(8, from, "x", "Point@0x3") }  // which was postponed
      }
    }
    go(40, &written)
    let first = try #require(try found(written.text).findings.avalanches.first)
    #expect(first.steps.map(\.text) == ["set Point.x", "Point (App.swift:5) is notified of x"])
    #expect(first.steps.map(\.count) == [41, 63])
    #expect(first.most == 63 && first.others.isEmpty && first.repeated.isEmpty)
    #expect(
      first.cause
        == "It multiplies here: each “set Point.x” notifies 1.5 observers on average (1 to 3)."
        + " The last step leads to “set Point.x” again, and so on.")
  }

  /// One set notifies ten rows. Each sets a property without observers, and one of whose two observers one sets a total.
  private static var branching: Written {
    var written = Written()
    written.set("Shop@0x1", "rate") { written in
      for row in 0..<10 {
        let object = "Row@0xa\(row)"
        written.notify(100 + row, "Shop@0x1", "rate", object, line: 10) { written in
          written.set(object, "state") { _ in }
          written.set(object, "tax") { written in
            written.notify(300 + row, object, "tax", "Bill@0x2", line: 20) { written in
              written.set("Bill@0x2", "total") { written in
                for observer in 0..<(row == 0 ? 3 : 2) { written.notify(500 + observer, "Bill@0x2", "total", line: 30) }
              }
            }
            written.notify(400 + row, object, "tax", "Log@0x3", line: 40)
          }
        }
      }
    }
    return written
  }

  @Test func `Steps and other branches of an avalanche have all its notifications`() throws {
    let first = try #require(try found(Self.branching.text).findings.avalanches.first)
    #expect(first.most == 10 + 10 + 10 + 21)
    #expect(first.steps.map(\.count) == [1, 10, 10, 10, 10, 21])
    #expect(first.others.map(\.text) == ["Log (App.swift:40) is notified of tax"])
    #expect(first.others.map(\.count) == [10])
  }

  @Test func `Each set that notifies several observers multiplies, also if they are on several branches`() throws {
    let first = try #require(try found(Self.branching.text).findings.avalanches.first)
    #expect(first.steps.filter(\.multiplies).map(\.text) == ["set Shop.rate", "set Row.tax", "set Bill.total"])
    #expect(
      first.steps.filter(\.multiplies).map(\.fan) == [
        "notifies 10 observers", "notifies 2 observers", "notifies 2.1 observers on average (2 to 3)",
      ])
  }

  @Test func `An observer that makes several sets with observers multiplies`() throws {
    var written = Written()
    written.set("A@0x1", "x") { written in
      written.notify(1, "A@0x1", "x", "B@0x2") { written in
        for step in 0..<20 { written.set("B@0x2", "y\(step)") { $0.notify(2 + step, "B@0x2", "y\(step)") } }
      }
    }
    let first = try #require(try found(written.text).findings.avalanches.first)
    #expect(first.cause == "It multiplies here: “B (App.swift:5) is notified of x” makes 20 sets.")
    #expect(first.steps.map(\.count) == [1, 1, 1, 1])
    #expect(first.others.map(\.count) == Array(repeating: 1, count: 19))
  }

  @Test func `What an avalanche sets again and again is named with its notifications, and those of one set`() throws {
    let first = try #require(try found(Self.branching.text).findings.avalanches.first)
    #expect(first.repeated.map(\.property) == ["Bill.total"])
    let total = try #require(first.repeated.first)
    #expect(total.objects == 1 && total.sets == 10 && total.notifications == 21 && total.once == 3)
    #expect(!total.isExact)
    #expect(total.by == "Bill (App.swift:20) is notified of tax")
  }

  @Test func `A few notifications are no avalanche`() throws {
    #expect(try found(avalanche(rows: 2).text).findings.avalanches.isEmpty)
  }

  @Test func `A property that is set again and again within one set is found, with the observer that sets it`() throws {
    let repeated = try #require(try found(avalanche(rows: 5).text).findings.repeated.first)
    #expect(repeated.text == "Bill.total of one object, within one “set Shop.rate”")
    #expect(repeated.detail == "by: Bill (App.swift:20) is notified of tax")
    #expect(repeated.count == 5)
  }

  @Test func `Observers are counted by the line that registered them, and the widest sets are listed`() throws {
    let findings = try found(avalanche(rows: 5).text).findings
    #expect(
      findings.observers.first.map { [$0.text, "\($0.count)"] } == ["Row (App.swift:30) is notified of total", "25"])
    #expect(findings.widest.map(\.count) == [5, 5])
  }

  @Test func `A fault is listed, with the slice in which it was`() throws {
    var written = Written()
    written.set("Shop@0x1", "rate") { written in
      written.notify(1, "Shop@0x1", "rate") { written in
        written.add("i", #","name":"KVO0002 error","cat":"fault","s":"t","args":{"summary":"KVO0002 error: no such"}"#)
      }
    }
    let fault = try #require(try found(written.text).findings.faults.first)
    #expect(fault.detail == "KVO0002 error: no such")
    #expect(fault.slice == 1)
  }

  // MARK: - The graph

  @Test func `An observer that is an object is one node, with what it is notified of and what it sets`() throws {
    let picture = try found(avalanche(rows: 2).text).picture
    #expect(!picture.isGrouped)
    #expect(picture.nodes.map(\.name).sorted() == ["Bill", "Row", "Row", "Shop", "raise(by:)"])
    let bill = try #require(picture.nodes.firstIndex { $0.name == "Bill" })
    #expect(picture.nodes[bill].calls == 2)
    #expect(picture.nodes[bill].sets == 2)
    let own = try #require(picture.edges.first { $0.from == bill && $0.to == bill })
    #expect(own.kind == .sets)
    #expect(own.keys == ["total": 2])
  }

  @Test func `With many objects each class is one node, whose arrows have the sums`() throws {
    let picture = try found(avalanche(rows: 100).text).picture
    #expect(picture.isGrouped)
    #expect(picture.objectCount == 102)
    let row = try #require(picture.nodes.firstIndex { $0.name == "Row" })
    #expect(picture.nodes[row].count == 100)
    #expect(picture.edges.first { $0.to == row && $0.keys["total"] != nil }?.calls == 10_000)
  }

  @Test func `A circle needs an observer that is notified of what it causes, not only objects that notify each other`()
    throws
  {
    #expect(try found(avalanche(rows: 3).text).picture.circles.isEmpty)
    var written = Written()
    written.set("A@0x1", "x") { written in
      written.notify(1, "A@0x1", "x", "B@0x2") { written in
        written.set("B@0x2", "y") { written in
          written.notify(2, "B@0x2", "y", "A@0x1") { written in written.set("A@0x1", "x") { _ in } }
        }
      }
    }
    let picture = try found(written.text).picture
    #expect(picture.circles == ["A.x notifies B; B sets B.y; B.y notifies A; A sets A.x"])
    #expect(picture.nodes.allSatisfy { $0.circle == 1 })
  }

  /// Two points set each other.
  private static func pair(_ number: Int, _ written: inout Written) {
    let (one, other) = ("Point@0x\(number)1", "Point@0x\(number)2")
    written.set(one, "x") { written in
      written.notify(number * 10 + 1, one, "x", line: 5) { written in
        written.set(other, "x") { written in
          written.notify(number * 10 + 2, other, "x", line: 6) { written in written.set(one, "x") { _ in } }
        }
      }
    }
  }

  @Test func `A circle within one class has addresses and lines`() throws {
    var written = Written()
    Self.pair(1, &written)
    #expect(
      try found(written.text).picture.circles == [
        "Point@0x11.x notifies closure (App.swift:5); it sets Point@0x12.x; that notifies closure (App.swift:6); "
          + "it sets Point@0x11.x"
      ])
  }

  @Test func `Circles of other objects that are alike are one`() throws {
    var written = Written()
    for number in 1...20 { Self.pair(number, &written) }
    let picture = try found(written.text).picture
    #expect(picture.isGrouped)
    #expect(picture.circles.count == 1)
    #expect(picture.circles[0].hasPrefix("Point@0x101.x notifies closure"), "\(picture.circles)")
    #expect(picture.circles[0].hasSuffix("; 19 more circles are like it"), "\(picture.circles)")
  }

  @Test func `Closures are one node each, or, with many, one per source line`() throws {
    func picture(_ count: Int) throws -> Picture {
      var written = Written()
      written.set("Shop@0x1", "rate") { written in
        for id in 0..<count { written.notify(id, "Shop@0x1", "rate", line: 7 + id % 2) }
      }
      return try found(written.text).picture
    }
    #expect(try picture(3).nodes.count { $0.kind == .observer } == 3)
    #expect(
      try picture(30).nodes.filter { $0.kind == .observer }.map { [$0.detail, "\($0.count)"] } == [
        ["App.swift:7", "15"], ["App.swift:8", "15"],
      ])
  }

  @Test func `A function of C has its whole name`() throws {
    var written = Written()
    written.set("Account@0x1", "tax", calls: "raise_taxes.constprop.0  shop+0x10") { written in
      written.notify(1, "Account@0x1", "tax")
    }
    #expect(try found(written.text).picture.nodes.first { $0.kind == .code }?.name == "raise_taxes.constprop.0")
  }

  // MARK: - The page

  @Test func `A mark of a thread that has set nothing is in a row of its own`() throws {
    var written = Written()
    written.set("Item@0x1", "value") { _ in }
    written.add("i", #","name":"KVO0002 error","cat":"fault","args":{"summary":"it is not registered"}"#)
    written.lines[written.lines.count - 1].replace(#""tid":1"#, with: #""tid":2"#)
    let data = try found(written.text).data
    #expect(data.threads.map(\.id) == [1, 2] && data.instants.map(\.thread) == [1])
  }

  @Test func `Text of the program cannot end its element in the page, and the page loads nothing`() throws {
    var written = Written()
    written.set("</script><script>alert(1)//@0x1", "<b>&") { written in written.notify(1, "x@0x1", "<!--") }
    let page = try ViewPage.html(found(written.text).data)
    #expect(page.components(separatedBy: "</script").count == 1 + 3)
    #expect(!page.contains("alert(1)//@0x1<") && !page.contains("<!--<"))
    #expect(page.contains("default-src 'none'"))
    #expect(page.contains("globalThis.Graphviz="))
    #expect(!page.contains("{{}}"))
  }

  @Test func `Of a long trace the largest trees are drawn, the page says what is not, and the findings count all`()
    throws
  {
    var written = avalanche(rows: 20)
    for _ in 0..<ViewData.mostSlices { written.set("Quiet@0x7", "k") { _ in } }
    let data = try found(written.text).data
    #expect(data.slices.text.count == ViewData.mostSlices)
    #expect(data.remarks.contains { $0.contains("slices are not drawn") })
    #expect(data.findings.avalanches.first?.slice == 0)
    #expect(data.findings.avalanches.first?.repeated.first?.slice == 4)
    #expect(data.facts.contains("\(20 + 20 + ViewData.mostSlices + 1) sets"))
  }
}
