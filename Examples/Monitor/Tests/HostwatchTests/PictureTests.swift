// The trace and the graph that a run writes.
import Foundation
import KeyValueObserving
import Testing

@testable import HostModel
@testable import HostReport

@Suite struct `Pictures` {
  struct Event: Decodable {
    let ph: String
    let tid: Int
    let ts: Double
    let name: String?
  }

  let folder = FileManager.default.temporaryDirectory.appending(path: "hostwatch-\(UUID())").path

  @Test func `A run writes the trace and the graph`() async throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    // In a separate process, because there is one recording per process.
    await #expect(processExitsWith: .success) { [folder = self.folder as String] in
      let files = ["--trace", folder + "/trace.json", "--graph", folder + "/graph.json"]
      try Hostwatch.parse(["--seconds", "0.2", "--interval", "0.1"] + files).run()
    }
    func contents(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name)) }

    let events = try JSONDecoder().decode([Event].self, from: contents("trace.json"))
    let set = try #require(events.firstIndex { $0.ph == "B" && $0.name?.hasSuffix("Machine.load") == true })
    #expect(events[set].name?.hasPrefix("set ") == true)
    let delivered = try #require(events[(set + 1)...].first { $0.tid == events[set].tid })
    #expect(delivered.ph == "B" && delivered.name?.hasPrefix("observer Watch.swift:") == true)
    #expect(events.filter { $0.ph == "B" }.count == events.filter { $0.ph == "E" }.count)

    let graph = try JSONDecoder().decode(ObservationGraph.self, from: contents("graph.json"))
    #expect(graph.objects.contains { $0.className.hasSuffix("Machine") && $0.keyPaths.contains("load") })
    #expect(graph.observations.contains { $0.registeredAt?.file.hasSuffix("Watch.swift") == true })
  }

  @Test func `A graph or trace that cannot be written is an error`() throws {
    let command = try Hostwatch.parse(["--seconds", "0.1", "--interval", "0.1", "--trace", "/no/such/folder/file"])
    #expect(throws: (any Error).self) { try command.run() }
  }
}
