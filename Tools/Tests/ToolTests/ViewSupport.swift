// The writing of traces for the tests of kvo view.
import Foundation

@testable import KVOTool

/// The lines of a trace, as the runtime writes them.
struct Written {
  var lines: [String] = [#"{"ph":"M","pid":1,"tid":1,"ts":0.000,"name":"process_name","args":{"name":"shop"}}"#]
  var time = 1.0

  mutating func add(_ phase: String, _ rest: String = "") {
    time += 1
    lines.append(#"{"ph":"\#(phase)","pid":1,"tid":1,"ts":\#(time)"# + rest + "}")
  }

  mutating func set(_ object: String, _ key: String, calls: String? = nil, _ body: (inout Written) -> Void) {
    let name = object.prefix { $0 != "@" }
    let by = calls.map { #","calls":["\#($0)"]"# } ?? ""
    add("B", #","name":"set \#(name).\#(key)","cat":"change","args":{"object":"\#(object)","key":"\#(key)"\#(by)}"#)
    body(&self)
    add("E")
  }

  /// A coalesced change: at first without those that it notifies.
  mutating func pause(_ object: String, _ key: String) {
    set(object, key) { _ in }
    lines[lines.count - 1].replace(/\}$/, with: #","args":{"paused":true}}"#)
  }

  mutating func resume(_ object: String, _ key: String, calls: String? = nil, _ body: (inout Written) -> Void) {
    let begin = lines.count
    set(object, key, calls: calls, body)
    lines[begin].replace(/\}\}$/, with: #","resumed":true}}"#)
  }

  mutating func notify(
    _ id: Int, _ object: String, _ key: String, _ observer: String? = nil, line: Int = 5,
    _ body: (inout Written) -> Void = { _ in }
  ) {
    let parts = observer?.split(separator: "@")
    let of = parts.map { #","observer":"\#($0[0])","observerAddress":"\#($0[1])""# } ?? ""
    add(
      "B",
      #","name":"observer App.swift:\#(line) (\#(key))","cat":"delivery","args":{"object":"\#(object)","key":"\#(key)","observation":"0x\#(id)"\#(of),"file":"App/App.swift","line":\#(line)}"#
    )
    body(&self)
    add("E")
  }

  var text: String { "[\n" + lines.joined(separator: ",\n") + "\n]\n" }
}

func readTrace(_ text: String) throws -> Trace { Trace(try TraceFile(Data(text.utf8), name: "run.json")) }

func found(_ text: String) throws -> (picture: Picture, findings: Findings, data: ViewData) {
  let trace = try readTrace(text)
  let lines = SourceLines(of: trace)
  let picture = Picture(trace: trace, graph: nil, lines: lines)
  let findings = Findings(of: trace, picture, lines)
  // A title that could end its element.
  let data = ViewData(title: "</script>", trace: trace, picture: picture, findings: findings, lines: lines)
  return (picture, findings, data)
}
