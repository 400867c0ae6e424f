// The server: a page, its events, and the commands that the page gives. It listens on this machine only.
import FlyingFox
import Foundation
import MonitorModel

package struct WebServer: Sendable {
  /// The server could not begin to listen, such as at a port that is in use.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  private let server: HTTPServer
  private let monitor: Monitor
  private let port: UInt16

  /// - Parameter port: The port; 0 lets the system choose one.
  package init(_ monitor: Monitor, port: UInt16) async throws {
    (self.monitor, self.port) = (monitor, port)
    signal(SIGPIPE, SIG_IGN)  // a client that leaves is an error of a write, not the end of the process
    server = HTTPServer(address: try .inet(ip4: "127.0.0.1", port: port), logger: .disabled)
    await addRoutes()
  }

  /// Starts to serve; returns the address of the page, and a task that ends when the server does.
  package func start() async throws -> (address: String, running: Task<Void, any Error>) {
    let (started, continuation) = AsyncThrowingStream<Void, any Error>.makeStream()
    let running = Task {
      do {
        try await server.run()
      } catch {
        continuation.finish(
          throwing: Failure(description: "The page cannot be served at port \(port): \(error.localizedDescription)"))
        throw error
      }
    }
    Task {
      try await server.waitUntilListening(timeout: 60)
      continuation.finish()
    }
    for try await _ in started {}
    guard case .ip4(_, let port) = await server.listeningAddress else { throw CancellationError() }
    return ("http://127.0.0.1:\(port)/", running)
  }

  private func addRoutes() async {
    await add("GET /") { _ in
      HTTPResponse(
        statusCode: .ok, headers: [.contentType: "text/html; charset=utf-8"], body: Data(PackageResources.index_html))
    }
    await add("GET /events") { [monitor] _ in Self.response(await monitor.events()) }
    await add("GET /history") { [monitor] _ in Self.response(await monitor.historyEvents()) }
    await add("GET /inspector") { [monitor] _ in Self.response(await monitor.inspectorEvents()) }
    await add("POST /filter") { [monitor] request in
      let data = try await request.bodyData
      guard data.count <= 256, let text = String(data: data, encoding: .utf8) else {
        return HTTPResponse(statusCode: .badRequest)
      }
      await MainActor.run { monitor.table.filter = text }
      return HTTPResponse(statusCode: .noContent)
    }
    await add("POST /sort/:column") { [monitor] request in
      let column = request.routeParameters["column"].flatMap(ProcessTable.Column.init(rawValue:))
      guard let column else { return HTTPResponse(statusCode: .notFound) }
      await MainActor.run { monitor.table.sort(by: column) }
      return HTTPResponse(statusCode: .noContent)
    }
    await add("POST /select/:pid") { [monitor] request in
      guard let pid = request.routeParameters["pid"].flatMap({ Int32($0) }),
        await MainActor.run(body: { monitor.table.select(pid: pid) })
      else { return HTTPResponse(statusCode: .notFound) }
      return HTTPResponse(statusCode: .noContent)
    }
  }

  /// Adds a route that other sites cannot use: neither under a name of theirs that leads here, nor by a form that posts here.
  private func add(_ route: HTTPRoute, handler: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) async {
    await server.appendRoute(route) { request in
      guard let host = request.headers[.host], let own = Self.hostName(host), ["127.0.0.1", "localhost"].contains(own),
        request.headers[HTTPHeader("Origin")].map({ $0 == "http://\(host)" }) ?? true
      else { return HTTPResponse(statusCode: .forbidden) }
      return try await handler(request)
    }
  }

  private static func hostName(_ host: String) -> String? { host.split(separator: ":").first.map(String.init) }

  private static func response(_ events: some AsyncSequence<ServerEvent, any Error> & Sendable) -> HTTPResponse {
    let headers: HTTPHeaders = [.contentType: "text/event-stream", .cacheControl: "no-store"]
    return HTTPResponse(statusCode: .ok, headers: headers, body: HTTPBodySequence(from: EventBody(events: events)))
  }
}
