// The server: what a page is sent, what it may command, and that its observations end with it.
import Foundation
import FoundationNetworking
import HostModel
import KeyValueObserving
import ProcFixture
import Testing

@testable import MonitorModel
@testable import MonitorWeb

@MainActor
@Suite struct `The page` {
  let fixture: ProcFixture
  let monitor: Monitor

  init() throws {
    fixture = try ProcFixture()
    try fixture.writeSystem()
    try fixture.writeProcess(10, "<b>nap</b>")
    try fixture.writeProcess(11, "bash")
    monitor = Monitor(folder: fixture.folder)
    monitor.sample()
  }

  @Test func `Events begin with the present state, and follow each change`() async throws {
    monitor.sample()
    var events = monitor.events().makeAsyncIterator()
    let text = try #require(try await events.next()).text
    #expect(
      text.hasPrefix("event: state\ndata: {") && text.hasSuffix("}\n\n") && text.split(separator: "\n").count == 2)
    #expect(text.contains(#""title":"2 processes""#) && text.contains(#""cores":"#))
    monitor.table.filter = "bash"
    #expect(try await next(of: &events) { $0.contains(#""title":"1 of 2 processes""#) } != nil)
    var points = monitor.historyEvents().makeAsyncIterator()
    #expect(try await points.next()?.text.hasPrefix("event: history\ndata: [{") == true)
    monitor.sample()
    #expect(try await points.next()?.text.hasPrefix("event: history\ndata: [{") == true)
  }

  @Test func `A client that leaves leaves no observation behind`() async throws {
    let before = ObservationGraph.current().observations.count {
      $0.registeredAt?.file == "MonitorWeb/ServerEvents.swift"
    }
    #expect(monitor.inspector.viewers == 0)
    do {
      var events = monitor.events().makeAsyncIterator()
      var inspector = monitor.inspectorEvents().makeAsyncIterator()
      _ = try await events.next()
      _ = try await inspector.next()
      #expect(monitor.inspector.viewers == 1)
    }
    // The streams end on another thread, and the viewer on this actor.
    for _ in 0..<500 where monitor.inspector.viewers > 0 { try await Task.sleep(for: .milliseconds(10)) }
    #expect(monitor.inspector.viewers == 0)
    let after = {
      ObservationGraph.current().observations.count { $0.registeredAt?.file == "MonitorWeb/ServerEvents.swift" }
    }
    for _ in 0..<500 where after() > before { try await Task.sleep(for: .milliseconds(10)) }
    #expect(after() <= before)
  }

  @Test func `A body has every byte of its events`() async throws {
    let events = AsyncStream { continuation in
      for number in 0..<3 { continuation.yield(ServerEvent("n", String(repeating: "x", count: number * 5000))) }
      continuation.finish()
    }
    var body = EventBody(events: events).makeAsyncIterator()
    var bytes: [UInt8] = []
    while let buffer = try await body.nextBuffer(suggested: 4096) {
      #expect((1...4096).contains(buffer.count))
      bytes += buffer
    }
    #expect(bytes.count == 3 * "event: n\ndata: \"\"\n\n".utf8.count + 15000)
  }

  @Test func `The page, its commands, and what other sites are refused`() async throws {
    let (address, running) = try await WebServer(monitor, port: 0).start()
    defer { running.cancel() }
    let page = try await send("GET", address)
    #expect(page.status == 200 && page.body.contains("EventSource"))

    #expect(try await send("POST", address + "filter", body: "ba").status == 204)
    #expect(monitor.table.filter == "ba" && monitor.table.rows.map(\.pid) == [11])
    #expect(try await send("POST", address + "filter", body: String(repeating: "x", count: 1000)).status == 400)
    #expect(try await send("POST", address + "sort/name").status == 204)
    #expect(monitor.table.order.column == .name)
    #expect(try await send("POST", address + "sort/size").status == 404)
    #expect(try await send("POST", address + "select/11").status == 204)
    #expect(monitor.table.selection?.pid == 11)
    #expect(try await send("POST", address + "select/12").status == 404)
    #expect(try await send("GET", address + "nothing").status == 404)

    let foreign = ["Origin": "http://example.org"]
    #expect(try await send("POST", address + "filter", body: "x", headers: foreign).status == 403)
    #expect(try await send("GET", address, headers: ["Host": "example.org"]).status == 403)
    #expect(monitor.table.filter == "ba")
  }

  @Test func `A port that is in use is an error`() async throws {
    let (address, running) = try await WebServer(monitor, port: 0).start()
    defer { running.cancel() }
    let port = try #require(URL(string: address)?.port.flatMap(UInt16.init(exactly:)))
    let failure = await #expect(throws: WebServer.Failure.self) { try await WebServer(monitor, port: port).start() }
    #expect(failure?.description.contains("port \(port)") == true)
  }

  private func send(_ method: String, _ address: String, body: String = "", headers: [String: String] = [:])
    async throws
    -> (status: Int, body: String)
  {
    var request = URLRequest(url: try #require(URL(string: address)))
    request.httpMethod = method
    if method == "POST" { request.httpBody = Data(body.utf8) }
    for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
    let (data, response) = try await URLSession.shared.data(for: request)
    return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
  }

  private func next<Events: AsyncIteratorProtocol>(of events: inout Events, where matches: (String) -> Bool)
    async throws
    -> String? where Events.Element == ServerEvent
  {
    for _ in 0..<20 {
      guard let event = try await events.next(isolation: #isolation) else { return nil }
      if matches(event.text) { return event.text }
    }
    return nil
  }
}
