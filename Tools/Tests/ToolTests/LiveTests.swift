// kvo top, who, graph, trace and list: against a program that runs meanwhile.
import Foundation
import KVOTool
import Testing

/// The program "served", in a process of its own.
private final class ServedProgram {
  let process = Process()
  private let input = Pipe()
  private(set) var pid: Int32 = 0
  var name: String { "\(pid)" }

  init(socket: String?) throws {
    let folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    process.executableURL = folder.appendingPathComponent("served")
    var environment = ProcessInfo.processInfo.environment
    environment["KVO_SOCKET"] = socket
    process.environment = environment
    process.standardInput = input
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    pid = try #require(
      Int32(String(decoding: output.fileHandleForReading.availableData, as: UTF8.self).prefix { $0.isNumber }))
  }

  func end() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  deinit { end() }
}

/// Runs the tool "kvo" in a process of its own.
private func kvo(_ arguments: String..., in folder: String? = nil) throws -> (
  status: Int32, output: String, errors: String
) {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    .appendingPathComponent("kvo")
  process.arguments = arguments
  if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
  let (output, errors) = (Pipe(), Pipe())
  process.standardOutput = output
  process.standardError = errors
  try process.run()
  let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  let complaint = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  process.waitUntilExit()
  return (process.terminationStatus, text, complaint)
}

@Suite("kvo looks at a running program")
struct LiveTests {
  @Test func `kvo top shows objects, keys, observers, their places and how long they take`() throws {
    let program = try ServedProgram(socket: "1")
    let shown = try kvo("top", program.name, "--once", "--interval", "0.5")
    #expect(shown.status == 0, "\(shown.errors)")
    let lines = shown.output.split(separator: "\n").map(String.init)
    #expect(lines[0] == "served  process \(program.pid)")
    #expect(lines[1].hasPrefix("objects 1  keys 3  observations 3  notifications "))
    #expect(lines[1].hasSuffix("faults none"))
    let slowest = try #require(lines.first { $0.contains("Served.swift:") })
    #expect(slowest.contains(#/Document\.pages +Printer /#), "the slowest comes first: \(shown.output)")
    #expect(slowest.contains(" ms "))
    let sidebar = try #require(lines.first { $0.contains(#/Document\.title +Sidebar /#) })
    #expect(sidebar.contains(#/Served\.swift:\d+$/#))
    #expect(lines.contains { $0.hasSuffix("Author.name") }, "a key that is observed through a path: \(shown.output)")
  }

  @Test func `kvo top as JSON has the rates of the interval`() throws {
    let program = try ServedProgram(socket: "1")
    let shown = try kvo("top", program.name, "--once", "--json", "--interval", "0.5")
    let object = try #require(JSONSerialization.jsonObject(with: Data(shown.output.utf8)) as? [String: Any])
    #expect(object["pid"] as? Int == Int(program.pid))
    let rate = try #require(object["notificationsPerSecond"] as? Double)
    #expect(rate > 1 && rate < 5000)
    let observers = try #require(object["observers"] as? [[String: Any]])
    let printer = try #require(observers.first { $0["observerClass"] as? String == "Printer" })
    #expect(try #require(printer["average"] as? Double) > 2_000_000)
    #expect(try #require(printer["busy"] as? Double) > 0.001)
  }

  @Test func `kvo who tells each observer with its place, options, class and notifications`() throws {
    let program = try ServedProgram(socket: "1")
    let shown = try kvo("who", program.name, "Document.title", "--seconds", "0.3").output
    #expect(shown.hasPrefix("Document.title: 1 observation of 1 object; notifications during 0.3 s\n"), "\(shown)")
    #expect(shown.contains(#/Served\.swift:\d+  Sidebar@0x[0-9a-f]+\n      "title" of Document@0x[0-9a-f]+  options /#))
    #expect(shown.contains(#/ [1-9]\d* notifications\n/#))
    let name = try kvo("who", program.name, "Author.name", "--seconds", "0").output
    #expect(name.hasPrefix("Author.name: 1 observation through others\n"), "\(name)")
    #expect(name.contains(#/"author.name" of Document@0x[0-9a-f]+, via Author@0x/#))
    #expect(!name.contains("notification"))
  }

  @Test func `kvo who names the class or key that was probably meant`() throws {
    let program = try ServedProgram(socket: "1")
    let key = try kvo("who", program.name, "Document.titel", "--seconds", "0")
    #expect(key.status == 1)
    #expect(key.errors.contains("Document has no key \"titel\"; did you mean \"title\"?"))
    let type = try kvo("who", program.name, "Documnt.title", "--seconds", "0")
    #expect(type.errors.contains("There is no class \"Documnt\"; did you mean \"Document\"?"))
  }

  @Test func `kvo graph prints the graph in each form`() throws {
    let program = try ServedProgram(socket: "1")
    #expect(try kvo("graph", program.name).output.hasPrefix("digraph observations {"))
    #expect(try kvo("graph", program.name, "--mermaid").output.hasPrefix("flowchart LR\n"))
    let json = try kvo("graph", program.name, "--json").output
    let graph = try #require(JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    #expect((graph["observations"] as? [Any])?.count == 3)
  }

  @Test func `kvo trace writes a trace of the next moments`() throws {
    let program = try ServedProgram(socket: "1")
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kvo-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let said = try kvo("trace", program.name, "--seconds", "0.3", in: folder)
    #expect(said.status == 0)
    #expect(said.errors.hasPrefix("served (process \(program.pid)): 0.3 s, "), "\(said.errors)")
    let data = try #require(FileManager.default.contents(atPath: "\(folder)/trace-\(program.pid).json"))
    let events = try #require(JSONSerialization.jsonObject(with: data) as? [[String: Any]])
    #expect(events.contains { $0["name"] as? String == "set Document.title" })
  }

  @Test func `kvo list has the programs that can be looked at, and a path works as well as a process id`() throws {
    let folder = FileManager.default.temporaryDirectory.path
    let program = try ServedProgram(socket: "\(folder)/kvo-tool-%p.sock")
    let path = "\(folder)/kvo-tool-\(program.pid).sock"
    let deadline = Date(timeIntervalSinceNow: 10)
    while !FileManager.default.fileExists(atPath: path), Date() < deadline { usleep(1000) }
    let list = try kvo("list").output
    #expect(
      list.split(separator: "\n").contains { $0.contains("\(program.pid)  served") && $0.hasSuffix(path) }, "\(list)")
    #expect(try kvo("graph", path).output == kvo("graph", program.name).output)
    program.end()
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(try kvo("graph", path).errors.contains("There is no socket \(path)."))
  }

  @Test func `What cannot be looked at is an error that says what to do`() throws {
    let program = try ServedProgram(socket: nil)
    let off = try kvo("top", program.name, "--once")
    #expect(off.status == 1)
    #expect(off.errors.contains("was not started with KVO_SOCKET. Start it so:\n  KVO_SOCKET=1 "), "\(off.errors)")
    #expect(try kvo("graph", "999999999").errors.contains("There is no process 999999999."))
    #expect(
      try kvo("graph", "nonsense").errors.contains("'nonsense' is neither a process id nor the path of a socket."))
    #expect(
      try kvo("trace", program.name, "--seconds", "0").errors.contains("A trace takes from 0.001 to 86400 seconds."))
  }

  @Test func `A program that ends meanwhile is told of`() throws {
    let program = try ServedProgram(socket: "1")
    let top = Process()
    top.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
      .appendingPathComponent("kvo")
    top.arguments = ["top", program.name, "--interval", "0.1"]
    let (output, errors) = (Pipe(), Pipe())
    (top.standardOutput, top.standardError) = (output, errors)
    try top.run()
    _ = output.fileHandleForReading.availableData  // it shows the program
    program.end()
    _ = output.fileHandleForReading.readDataToEndOfFile()
    let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    top.waitUntilExit()
    #expect(said.contains("served (process \(program.pid)) has ended, or closed the connection."), "\(said)")
    #expect(top.terminationStatus == 1)
  }
}
