// The graph of a program's observations.
import Foundation
import KeyValueObserving
import Testing

@KeyValueObservable
private final class Engine {
  var speed = 0
  var sensor: Sensor?
}

@KeyValueObservable
private final class Sensor {
  var heat = 0
}

@KeyValueObservable
private final class Gauge: KeyValueObserver, @unchecked Sendable {
  var shown = 0
  func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) { shown += 1 }
}

/// The part of a graph that belongs to one test: other tests observe at the same time.
private struct Part {
  let graph = ObservationGraph.current()
  let text: String

  init(of object: AnyObject) { text = Self.address(of: object) }

  private static func address(of object: AnyObject) -> String {
    "0x" + String(UInt(bitPattern: ObjectIdentifier(object)), radix: 16)
  }

  /// Returns the index of another object in this graph; in the next graph it may be different because of other tests.
  func index(of object: AnyObject) -> Int? {
    graph.objects.firstIndex { $0.address.description == Self.address(of: object) }
  }

  var index: Int? { graph.objects.firstIndex { $0.address.description == text } }
  var object: ObservationGraph.Object? { index.map { graph.objects[$0] } }
  var observations: [ObservationGraph.Observation] { graph.observations.filter { $0.object == index } }
  func edges(of observation: ObservationGraph.Observation) -> [ObservationGraph.Edge] {
    graph.edges.filter { graph.observations[$0.observation] == observation }
  }
}

@Suite("The graph of observations")
private struct GraphTests {
  @Test func `An observation has its key path, its options and its source location`() throws {
    let engine = Engine()
    let line = #line + 1
    let token = engine.observe(\.speed, options: [.new, .prior]) { _, _ in }
    let part = Part(of: engine)
    let object = try #require(part.object)
    let observation = try #require(part.observations.first)
    #expect(object.className.hasSuffix("Engine") && object.keyPaths == ["speed"] && object.observations == 1)
    #expect(observation.kind == .direct && observation.keyPath == "speed" && observation.endsWithObject)
    #expect(observation.options == [.new, .prior] && observation.observerClass == nil)
    #expect(observation.registeredAt?.file.hasSuffix("PictureTests.swift") == true)
    #expect(observation.registeredAt?.line == line)
    withExtendedLifetime(token) {}
  }

  @Test func `An observation through a path has an edge from each key on the path`() throws {
    let (engine, sensor) = (Engine(), Sensor())
    engine.sensor = sensor
    let token = engine.observe(\.sensor?.heat) { _, _ in }
    let part = Part(of: engine)
    let observation = try #require(part.observations.first)
    #expect(observation.kind == .expression)
    let edges = part.edges(of: observation)
    #expect(edges.map(\.key) == ["sensor", "heat"])
    #expect(edges.map(\.isValue) == [false, true])
    #expect(edges.map(\.object) == [part.index, part.index(of: sensor)])
    withExtendedLifetime(token) {}
  }

  @Test func `An observer that is itself observed is one of its objects`() throws {
    let (engine, gauge) = (Engine(), Gauge())
    engine.addObserver(gauge, forKeyPath: "speed")
    let token = gauge.observe(\.shown) { _, _ in }
    let part = Part(of: engine)
    let observation = try #require(part.observations.first)
    #expect(observation.observerClass?.hasSuffix("Gauge") == true)
    #expect(!observation.endsWithObject)
    let observer = try #require(observation.observerObject)
    #expect(part.graph.objects[observer].keyPaths == ["shown"])
    engine.removeObserver(gauge, forKeyPath: "speed")
    withExtendedLifetime(token) {}
  }

  @Test func `DOT and Mermaid draw objects, observers and arrows between them`() throws {
    let engine = Engine()
    let line = #line + 1
    let token = engine.observe(\.speed) { _, _ in }
    let part = Part(of: engine)
    var observation = try #require(part.observations.first)
    observation.object = 0
    var graph = part.graph
    graph.objects = [try #require(part.object)]
    graph.observations = [observation]
    graph.edges = []
    let name = graph.objects[0].className
    #expect(graph.dot.contains("  o0 [label=\"\(name)\\n\(part.text)\"];\n"))
    #expect(graph.dot.contains("  p1 [style=rounded, label=\"observer\\nPictureTests.swift:\(line)\"];\n"))
    #expect(graph.dot.contains("  o0 -> p1 [label=\"speed\"];\n"))
    #expect(graph.mermaid.contains("  p1([\"observer<br/>PictureTests.swift:\(line)\"])\n"))
    #expect(graph.mermaid.contains("  o0 -- \"speed\" --> p1\n"))
    withExtendedLifetime(token) {}
  }
}
