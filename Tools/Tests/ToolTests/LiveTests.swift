// kvo top, who, graph, trace and list: against a program that runs meanwhile.
import Foundation
import Testing

@testable import KVOTool

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

  @Test(arguments: 0...12) func `kvo top shows no more lines than the terminal has`(height: Int) throws {
    func figures(_ time: Int) throws -> Figures {
      let rows = (0..<9).map {
        #"{"class":"A","keyPath":"k\#($0)","count":\#(time),"nanoseconds":9,"longest":9,"objects":1,"observations":1}"#
      }.joined(separator: ",")
      let text = """
        {"time":\(time)000000000,"objects":1,"keys":9,"observations":9,"faults":{},"observed":[\(rows)],"changes":[],
        "notifications":[\(rows)],"otherChanges":0,"otherNotifications":0}
        """
      return try JSONDecoder().decode(Figures.self, from: Data(text.utf8))
    }
    let interval = Interval(
      of: Connection.Hello(protocol: 1, library: "1", pid: 1, program: "p"), from: try figures(1), to: try figures(2))
    let lines = TopText.lines(interval, sort: .time, height: height)
    #expect(lines.count == height)
    #expect(TopText.lines(interval, sort: .time).count == 24)
  }

  @Test func `kvo who lists each observer with its place, options, class and notifications`() throws {
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

  @Test func `kvo list has the programs that can be looked at, and a path works as well as a process id`() throws {
    let folder = FileManager.default.temporaryDirectory.path
    let program = try ServedProgram(socket: "\(folder)/kvo-tool-%p.sock")
    let path = "\(folder)/kvo-tool-\(program.pid).sock"
    try waitUntil { FileManager.default.fileExists(atPath: path) }
    let list = try kvo("list").output
    #expect(
      list.split(separator: "\n").contains { $0.contains("\(program.pid)  served") && $0.hasSuffix(path) }, "\(list)")
    #expect(try kvo("graph", path).output == kvo("graph", program.name).output)
    program.end()
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(try kvo("graph", path).errors.contains("There is no socket \(path)."))
  }

  @Test func `kvo list removes the sockets of killed programs, and no other file`() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kvo-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let killed = try ServedProgram(socket: "\(folder)/")
    let alive = try ServedProgram(socket: "\(folder)/")
    func path(_ program: ServedProgram) -> String { "\(folder)/kvo-\(program.pid).sock" }
    for program in [killed, alive] { try waitUntil { FileManager.default.fileExists(atPath: path(program)) } }
    kill(killed.pid, SIGKILL)
    killed.process.waitUntilExit()
    try Data("text".utf8).write(to: URL(fileURLWithPath: "\(folder)/kvo-999999999.sock"))
    #expect(FileManager.default.fileExists(atPath: path(killed)))
    _ = try kvo("list", environment: ["XDG_RUNTIME_DIR": folder])
    #expect(!FileManager.default.fileExists(atPath: path(killed)))
    #expect(FileManager.default.fileExists(atPath: path(alive)))
    #expect(FileManager.default.fileExists(atPath: "\(folder)/kvo-999999999.sock"))
  }

  @Test func `kvo who counts the observations of one line together, and says of which the number is`() throws {
    let program = try ServedProgram(socket: "1", arguments: ["--readers", "3"])
    let shown = try kvo("who", program.name, "Document.title", "--seconds", "0.3").output
    #expect(shown.contains(#/Served\.swift:\d+  a callback  3 observations, [1-9]\d* notifications\n/#), "\(shown)")
    #expect(shown.contains(#/      the first: "title" of Document@0x[0-9a-f]+  options .*\(--all lists them\)/#))
  }

  @Test func `What cannot be looked at is an error that says what to do`() throws {
    let program = try ServedProgram(socket: nil, arguments: ["--password", "secret"])
    let off = try kvo("top", program.name, "--once")
    #expect(off.status == 1)
    #expect(off.errors.contains("was not started with KVO_SOCKET. Start it so:\n  KVO_SOCKET=1 "), "\(off.errors)")
    #expect(off.errors.contains("/served …\n"), "\(off.errors)")
    #expect(!off.errors.contains("secret"), "arguments may be secrets: \(off.errors)")
    #expect(try kvo("graph", "999999999").errors.contains("There is no process 999999999."))
    for command in ["graph", "top", "trace", "who"] {
      let said = try command == "who" ? kvo(command, "nonsense", "A.b") : kvo(command, "nonsense")
      #expect(said.errors.contains("'nonsense' is neither a process id nor the path of a socket."))
      #expect(said.errors.contains("Usage: kvo \(command) "), "\(said.errors)")
    }
    #expect(
      try kvo("trace", program.name, "--seconds", "0").errors.contains("A trace takes from 0.001 to 86400 seconds."))
  }

  @Test func `The end of the program is reported`() throws {
    let program = try ServedProgram(socket: "1")
    let top = Process()
    top.executableURL = built("kvo")
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
