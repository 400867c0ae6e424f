// The page of a view: one HTML file with its data, its script and Graphviz.
import CViewPage
import Foundation

/// The data of a page. The script reads it: Tools/Sources/CViewPage/Page/page.js.
struct ViewData: Encodable {
  /// The slices that are shown, one element per slice in each list. Times are in microseconds.
  struct Columns: Encodable {
    var text: [Int] = []
    var kind: [Int] = []
    var thread: [Int] = []
    var depth: [Int] = []
    var start: [Double] = []
    var length: [Double] = []
    var parent: [Int] = []
    var node: [Int] = []
    /// The node of the code that made an outermost set, or -1.
    var code: [Int] = []
    var observation: [Int] = []
    var place: [Int] = []
    var by: [Int] = []
    var notifications: [Int] = []
  }
  struct Thread: Encodable {
    var name: String
    var id: Int
  }
  struct Instant: Encodable {
    var time: Double
    var thread: Int
    var name, detail: String
    var isFault: Bool
  }

  var title: String
  var facts: [String] = []
  /// What is left out, and what is wrong with the files.
  var remarks: [String] = []
  var strings: [String] = []
  var slices = Columns()
  var threads: [Thread] = []
  var instants: [Instant] = []
  var nodes: [PictureNode]
  var edges: [PictureEdge]
  var isGrouped: Bool
  var findings: Findings

  /// More slices are not shown, nor more instants: the page would be slow.
  static let mostSlices = 100_000
  static let mostInstants = 5000

  private var numbers: [String: Int] = [:]

  private enum CodingKeys: CodingKey {
    case title, facts, remarks, strings, slices, threads, instants, nodes, edges, isGrouped, findings
  }

  init(title: String, trace: Trace?, picture: Picture, findings: Findings, lines: SourceLines?) {
    self.title = title
    (nodes, edges, isGrouped, self.findings) = (picture.nodes, picture.edges, picture.isGrouped, findings)
    if picture.isGrouped {
      remarks.append(
        "The graph has \(picture.objectCount) objects: each class is one node, and each source line that registers closures."
      )
    }
    if picture.leftOut > 0 { remarks.append("Not drawn: \(Self.some(picture.leftOut, "node")) with little traffic.") }
    if let trace { add(trace, picture, lines) }
  }

  private static func some(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

  private mutating func number(_ text: String) -> Int {
    if let number = numbers[text] { return number }
    strings.append(text)
    numbers[text] = strings.count - 1
    return strings.count - 1
  }

  private mutating func add(_ trace: Trace, _ picture: Picture, _ lines: SourceLines?) {
    let last = trace.slices.map(\.end).max() ?? 0
    let notifications = trace.slices.count { $0.kind == .delivery }
    let sets = trace.slices.count { $0.kind == .change && $0.begun == nil }
    facts = [
      trace.process, Self.some(sets, "set"), Self.some(notifications, "notification"),
      Self.some(trace.threadOrder.count, "thread"), String(format: "%.1f ms", last / 1000),
    ].filter { !$0.isEmpty }
    if trace.isTruncated {
      remarks.append("The trace ends within an event: the process was killed, or the disk was full.")
    }
    if trace.openCount > 0 {
      remarks.append("When the recording ended, \(Self.some(trace.openCount, "slice")) had no end.")
    }
    threads = trace.threadOrder.map { Thread(name: trace.threads[$0] ?? "", id: $0) }
    let threadNumbers = Dictionary(uniqueKeysWithValues: trace.threadOrder.enumerated().map { ($1, $0) })
    let shown = Self.chosen(trace)
    if shown.count < trace.slices.count {
      remarks.append(
        "\(trace.slices.count - shown.count) of \(trace.slices.count) slices are not drawn: those of the outermost sets with the fewest notifications. Findings and graph count all."
      )
    }
    var places = [Int](repeating: -1, count: trace.slices.count)
    for (new, old) in shown.enumerated() {
      places[old] = new
      let slice = trace.slices[old]
      slices.text.append(number(slice.name))
      slices.kind.append(slice.kind.rawValue)
      slices.thread.append(threadNumbers[slice.thread]!)
      slices.depth.append(slice.depth)
      slices.start.append(slice.start)
      slices.length.append((slice.duration * 1000).rounded() / 1000)
      slices.parent.append(slice.parent.map { places[$0] } ?? -1)
      slices.node.append(picture.nodeOfSlice[old])
      slices.code.append(picture.codeOfSlice[old] ?? -1)
      slices.observation.append(slice.arguments?.observation.map { number($0) } ?? -1)
      slices.place.append(Picture.place(slice.arguments?.file, slice.arguments?.line).map { number($0) } ?? -1)
      let calls = slice.arguments?.calls?.map { lines?.describe($0) ?? $0 }
      slices.by.append(calls.map { number($0.joined(separator: ", called by ")) } ?? -1)
      slices.notifications.append(slice.notifications)
    }
    addInstants(trace, threadNumbers)
    move { $0 >= 0 ? places[$0] : -1 }
  }

  private mutating func addInstants(_ trace: Trace, _ threadNumbers: [Int: Int]) {
    let faults = trace.instants.filter { $0.cat == "fault" }
    let others = trace.instants.filter { $0.cat != "fault" }
    let room = max(0, Self.mostInstants - faults.count)
    if others.count > room {
      remarks.append("Not drawn: \(Self.some(others.count - room, "mark")) of registrations and ends.")
    }
    instants = (faults + others.prefix(room)).map {
      Instant(
        time: $0.ts, thread: threadNumbers[$0.tid]!, name: $0.name ?? "", detail: $0.args?.summary ?? "",
        isFault: $0.cat == "fault")
    }
  }

  /// The slices of the outermost sets with the most notifications, as many as fit, in the order of the trace.
  private static func chosen(_ trace: Trace) -> [Int] {
    guard trace.slices.count > mostSlices else { return Array(trace.slices.indices) }
    let sizes = trace.slices.reduce(into: [Int: Int]()) { $0[$1.root, default: 0] += 1 }
    var left = mostSlices
    var roots: Set<Int> = []
    for root in sizes.keys.sorted(by: { (trace.slices[$1].notifications, $0) < (trace.slices[$0].notifications, $1) }) {
      guard left > 0 else { break }
      roots.insert(root)
      left -= sizes[root]!
    }
    // One tree may be too large alone: its beginning, in which each slice has its parent.
    return Array(trace.slices.indices.lazy.filter { roots.contains(trace.slices[$0].root) }.prefix(mostSlices))
  }

  /// Changes the numbers of slices in the findings to those of the shown ones.
  private mutating func move(_ new: (Int) -> Int) {
    findings.avalanches.move(new)
    for index in findings.avalanches.indices {
      findings.avalanches[index].steps.move(new)
      findings.avalanches[index].repeated.move(new)
      findings.avalanches[index].others.move(new)
    }
    for list in [\Findings.repeated, \.observers, \.widest, \.faults] { findings[keyPath: list].move(new) }
  }
}

extension Array where Element: HasSlice {
  fileprivate mutating func move(_ new: (Int) -> Int) {
    for index in indices { self[index].slice = new(self[index].slice) }
  }
}

enum ViewPage {
  /// Returns the page. All text of the program is in the JSON, without a character that could end the element that it is in.
  static func html(_ data: ViewData) throws -> String {
    let json = try Columns.json(data)
      .replacingOccurrences(of: "<", with: "\\u003c").replacingOccurrences(of: "\u{2028}", with: "\\u2028")
      .replacingOccurrences(of: "\u{2029}", with: "\\u2029")
    let page = text(kvo_view_html())
    let parts = page.components(separatedBy: "{{}}")  // the style, Graphviz, the data, the script
    return parts[0] + text(kvo_view_css()) + parts[1] + graphviz() + parts[2] + json + parts[3] + text(kvo_view_js())
      + parts[4]
  }

  /// The library is a module that exports its names. In one file nothing can import it, so the page gets the one that it needs as a global.
  private static func graphviz() -> String {
    let library = text(kvo_view_graphviz())
    let export = library.range(of: "export{", options: .backwards)!
    let names = library[export.upperBound...].prefix { $0 != "}" }.split(separator: ",")
    let local = names.first { $0.hasSuffix(" as Graphviz") }!.split(separator: " ")[0]
    return library[..<export.lowerBound] + "globalThis.Graphviz=\(local);\n"
  }

  private static func text(_ of: kvo_view_text) -> String {
    String(decoding: UnsafeRawBufferPointer(start: of.bytes, count: of.length), as: UTF8.self)
  }
}
