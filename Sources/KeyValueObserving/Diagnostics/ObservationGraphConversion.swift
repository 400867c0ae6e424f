// The conversion between the graph of observations and its C form, which C writes as text.

import CKVO

extension ObservationGraph {
  init(_ graph: kvo_graph) {
    objects = UnsafeBufferPointer(start: graph.objects, count: graph.object_count).map { each in
      Object(
        className: String(cString: each.class_name), address: Address(each.object),
        observations: each.observation_count, edges: each.edge_count,
        keyPaths: UnsafeBufferPointer(start: each.key_paths, count: each.key_path_count).map { String(cString: $0) })
    }
    observations = UnsafeBufferPointer(start: graph.observations, count: graph.observation_count).map(Observation.init)
    edges = UnsafeBufferPointer(start: graph.edges, count: graph.edge_count).map { each in
      Edge(
        observation: each.observation, object: each.object, key: each.key.map { String(cString: $0) },
        isValue: each.is_value)
    }
  }

  func text(_ form: kvo_graph_form) -> String {
    let strings = TemporaryStrings()
    defer { strings.free() }
    let keyPaths = UnsafeMutableBufferPointer<UnsafePointer<CChar>>.allocate(
      capacity: objects.reduce(0) { $0 + $1.keyPaths.count })
    defer { keyPaths.deallocate() }
    var used = 0
    let cObjects = objects.map { each in
      let first = used
      for keyPath in each.keyPaths {
        keyPaths.initializeElement(at: used, to: strings.copy(keyPath))
        used += 1
      }
      return kvo_graph_object(each, keyPaths: UnsafePointer(keyPaths.baseAddress! + first), strings)
    }
    let cObservations = observations.map { kvo_graph_observation($0, strings) }
    let cEdges = edges.map { each in
      kvo_graph_edge(
        observation: each.observation, object: each.object, key: each.key.map(strings.copy), is_value: each.isValue)
    }
    return withPointer(to: cObjects) { objects in
      withPointer(to: cObservations) { observations in
        withPointer(to: cEdges) { edges in
          var graph = kvo_graph(
            objects: objects, object_count: cObjects.count, observations: observations,
            observation_count: cObservations.count, edges: edges, edge_count: cEdges.count)
          return Self.format(&graph, form)
        }
      }
    }
  }

  /// Calls a function with a pointer to the elements. C requires a non-null pointer, even for an empty array.
  private func withPointer<Element, Result>(to array: [Element], _ body: (UnsafePointer<Element>) -> Result) -> Result {
    array.withUnsafeBufferPointer {
      body($0.baseAddress ?? UnsafePointer(bitPattern: MemoryLayout<Element>.alignment)!)
    }
  }

  private static func format(_ graph: inout kvo_graph, _ form: kvo_graph_form) -> String {
    formatted { kvo_graph_format(&graph, form, $0, $1) }
  }
}

extension kvo_graph_object {
  fileprivate init(
    _ from: ObservationGraph.Object, keyPaths: UnsafePointer<UnsafePointer<CChar>>, _ strings: TemporaryStrings
  ) {
    self.init(
      object: from.address.pointer, class_name: strings.copy(from.className), first_observation: 0,
      observation_count: from.observations, key_paths: keyPaths, key_path_count: from.keyPaths.count,
      edge_count: from.edges)
  }
}

extension kvo_graph_observation {
  fileprivate init(_ from: ObservationGraph.Observation, _ strings: TemporaryStrings) {
    self.init(
      observation: from.id.rawValue, kind: from.kind == .direct ? KVO_GRAPH_DIRECT : KVO_GRAPH_EXPRESSION,
      object: from.object, key_path: strings.copy(from.keyPath),
      options: kvo_options(from.options, endsWithObject: from.endsWithObject),
      observer_class: from.observerClass.map(strings.copy), observer: from.observer?.pointer,
      observer_object: from.observerObject ?? ObservationGraph.Observation.noObject,
      context: UnsafeMutableRawPointer(mutating: from.context?.pointer), note: from.note.map(strings.copy),
      file: from.registeredAt.map { strings.copy($0.file) },
      line: UInt32(truncatingIfNeeded: from.registeredAt?.line ?? 0), first_edge: 0, edge_count: 0)
  }
}

extension ObservationGraph.Address {
  /// The address as a pointer, for comparing and printing only.
  fileprivate var pointer: UnsafeRawPointer! { UnsafeRawPointer(bitPattern: UInt(rawValue)) }

  init(_ pointer: UnsafeRawPointer?) { rawValue = UInt64(UInt(bitPattern: pointer)) }
}

extension ObservationGraph.Observation {
  fileprivate init(_ from: kvo_graph_observation) {
    func address(_ pointer: UnsafeRawPointer?) -> ObservationGraph.Address? { pointer.map { .init($0) } }
    self.init(
      id: .init(rawValue: from.observation),
      kind: from.kind == KVO_GRAPH_DIRECT ? .direct : .expression,
      object: from.object,
      keyPath: String(cString: from.key_path),
      options: NSKeyValueObservingOptions(rawValue: UInt(from.options.rawValue) & 0xf),
      endsWithObject: from.options.rawValue & KVO_ENDS_WITH_OBJECT.rawValue != 0,
      observerClass: from.observer_class.map { String(cString: $0) },
      observer: address(from.observer),
      observerObject: from.observer_object == Self.noObject ? nil : from.observer_object,
      context: address(from.context),
      note: from.note.map { String(cString: $0) },
      registeredAt: from.file.map { .init(file: String(cString: $0), line: Int(from.line)) })
  }

  /// The value of the C macro `KVO_GRAPH_NONE`.
  fileprivate static let noObject = Int(bitPattern: UInt.max)
}
