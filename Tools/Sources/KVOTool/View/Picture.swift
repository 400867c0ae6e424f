// The picture of a view: objects, observers and the code that makes outermost changes; who notifies whom, and who sets what, with traffic.
import Foundation
import KeyValueObserving

/// A node.
struct PictureNode: Encodable {
  enum Kind: String, Encodable { case object, observer, code }

  var kind: Kind
  var name: String
  /// The address, the source line, or the number of objects.
  var detail: String
  var count = 1
  /// How often it was notified, and how often its callbacks set something.
  var calls = 0
  var sets = 0
  /// The time of its callbacks without what they set, in microseconds.
  var time = 0.0
  var circle = 0
}

/// All notifications, or all sets, from one node to another.
struct PictureEdge: Encodable {
  enum Kind: String, Encodable { case observes, sets }

  var from, to: Int
  var kind: Kind
  /// The keys, with how often each was notified or set.
  var keys: [String: Int] = [:]
  var places: Set<String> = []
  var calls = 0
  var circle = 0
}

struct Picture {
  var nodes: [PictureNode] = []
  var edges: [PictureEdge] = []
  /// The node of each slice: the object of a change, the observer of a delivery.
  var nodeOfSlice: [Int] = []
  /// The code that made an outermost change.
  var codeOfSlice: [Int: Int] = [:]
  var isGrouped = false
  var objectCount = 0
  /// Nodes that are left out because there are more than ``most``.
  var leftOut = 0
  /// The circles, each as the text of its steps.
  var circles: [String] = []

  /// With more nodes than this, each class is one, and each source line that registers closures.
  static let ungrouped = 12
  /// With more nodes than this even then, those with the least traffic are left out.
  static let most = 40

  private var numbers: [String: Int] = [:]
  private var edgeNumbers: [[Int]: Int] = [:]
  private var known: [String: Observed] = [:]
  private var classes: [String: String] = [:]
  private var flow: [String: Set<String>] = [:]
  private var flowEdges: [(from: String, to: String, edge: Int)] = []

  /// An observation of the graph or of the trace.
  private struct Observed {
    var object: Address
    var keyPath: String
    var observer: Address?
    var observerClass: String?
    var place: String?
    var id: String
  }

  init(trace: Trace?, graph: ObservationGraph?, lines: SourceLines?) {
    learn(trace, graph)
    draw(trace, graph, lines)
    objectCount = nodes.count { $0.kind == .object }
    if nodes.count > Self.ungrouped {
      let (known, classes, count) = (self.known, self.classes, objectCount)
      self = Picture()
      (self.known, self.classes, isGrouped) = (known, classes, true)
      draw(trace, graph, lines)
      objectCount = count
    }
    markCircles()
    dropQuietNodes()
  }

  private init() {}

  /// `edit(_:)` of `static App.Editor.edit(_:)`. Names of C have no parentheses, and their dots belong to them.
  private static func shortName(_ function: String) -> String {
    let head = function.prefix { $0 != "(" }
    guard head.endIndex < function.endIndex, let dot = head.lastIndex(of: ".") else { return function }
    return String(function[function.index(after: dot)...])
  }

  /// Where a registration is, without folders.
  static func place(_ file: String?, _ line: Int?) -> String? {
    file.map { URL(fileURLWithPath: $0).lastPathComponent + ":\(line ?? 0)" }
  }

  private mutating func learn(_ trace: Trace?, _ graph: ObservationGraph?) {
    for each in graph?.objects ?? [] where !each.className.isEmpty {
      classes[each.address.description] = each.className
    }
    for each in graph?.observations ?? [] {
      guard let object = graph?.objects[each.object] else { continue }
      known[each.id.description] = Observed(
        object: Address(className: object.className, address: object.address.description), keyPath: each.keyPath,
        observer: each.observer.map { Address(className: each.observerClass ?? "", address: $0.description) },
        observerClass: each.observerClass, place: Self.place(each.registeredAt?.file, each.registeredAt?.line),
        id: each.id.description)
    }
    let events = (trace?.slices.map(\.event) ?? []) + (trace?.instants ?? [])
    for event in events {
      guard let given = event.args, given.object != nil else { continue }
      let object = Address(given.object)
      if classes[object.address] == nil { classes[object.address] = object.className }
      guard let id = given.observation, event.cat != "fault", known[id] == nil else { continue }
      known[id] = Observed(
        object: object, keyPath: given.key ?? "",
        observer: given.observerAddress.map { Address(className: given.observer ?? "", address: $0) },
        observerClass: given.observer, place: Self.place(given.file, given.line), id: id)
    }
  }

  // MARK: - Nodes and edges

  private mutating func node(_ kind: PictureNode.Kind, _ key: String, _ name: String, _ detail: String) -> Int {
    if let number = numbers[key] { return number }
    nodes.append(PictureNode(kind: kind, name: name, detail: detail))
    numbers[key] = nodes.count - 1
    return nodes.count - 1
  }

  private var members: [Int: Set<String>] = [:]

  private mutating func object(_ of: Address) -> Int {
    let name = of.className.isEmpty ? classes[of.address] ?? "" : of.className
    let shown = name.isEmpty ? "object" : name
    let number =
      isGrouped
      ? node(.object, "class " + name, shown, "") : node(.object, "\(of.address) \(name)", shown, of.address)
    members[number, default: []].insert(of.address)
    return number
  }

  private mutating func observer(_ of: Observed) -> Int {
    if let address = of.observer {
      return object(Address(className: classes[address.address] ?? address.className, address: address.address))
    }
    let name = of.observerClass ?? "closure"
    let key = isGrouped ? "place \(of.place ?? "") \(name)" : "observation \(of.id)"
    let number = node(.observer, key, name, of.place ?? of.id)
    members[number, default: []].insert(of.id)
    return number
  }

  private mutating func edge(_ from: Int, _ to: Int, _ kind: PictureEdge.Kind) -> Int {
    let key = [from, to, kind == .sets ? 1 : 0]
    if let number = edgeNumbers[key] { return number }
    edges.append(PictureEdge(from: from, to: to, kind: kind))
    edgeNumbers[key] = edges.count - 1
    return edges.count - 1
  }

  private mutating func draw(_ trace: Trace?, _ graph: ObservationGraph?, _ lines: SourceLines?) {
    for each in graph?.observations ?? [] {
      guard let graph, let of = known[each.id.description] else { continue }
      let object = graph.objects[each.object]
      connect(Address(className: object.className, address: object.address.description), each.keyPath, of, calls: 0)
    }
    for each in graph?.edges ?? [] {
      guard let graph, let key = each.key, let of = known[graph.observations[each.observation].id.description] else {
        continue
      }
      let object = graph.objects[each.object]
      connect(Address(className: object.className, address: object.address.description), key, of, calls: 0)
    }
    for index in trace?.slices.indices ?? 0..<0 { draw(trace!, index, lines) }
    for (number, all) in members { nodes[number].count = all.count }
  }

  @discardableResult
  private mutating func connect(_ from: Address, _ key: String, _ of: Observed, calls: Int) -> Int {
    let (source, target) = (object(from), observer(of))
    let number = edge(source, target, .observes)
    edges[number].keys[key, default: 0] += calls
    edges[number].calls += calls
    if let place = of.place { edges[number].places.insert(place) }
    add("\(from.address).\(key)", of.id, number)
    return target
  }

  private mutating func draw(_ trace: Trace, _ index: Int, _ lines: SourceLines?) {
    let slice = trace.slices[index]
    let changed = Address(slice.arguments?.object)
    switch slice.kind {
    case .change:
      let target = object(changed)
      nodeOfSlice.append(target)
      let key = slice.arguments?.key ?? "?"
      if let parent = slice.parent {
        let source = nodeOfSlice[parent]
        guard trace.slices[parent].kind == .delivery, slice.begun == nil else { return }
        let number = edge(source, target, .sets)
        edges[number].keys[key, default: 0] += 1
        edges[number].calls += 1
        nodes[source].sets += 1
        add(trace.slices[parent].arguments?.observation ?? "", "\(changed.address).\(key)", number)
      } else if slice.notifications > 0, trace.setter(of: index) == nil,
        let call = slice.begun.flatMap({ trace.slices[$0].arguments?.calls?.first }) ?? slice.arguments?.calls?.first
      {
        let text = lines?.describe(call) ?? call
        let parts = text.components(separatedBy: " at ")
        let source = node(.code, "code " + text, Self.shortName(parts[0]), parts.count > 1 ? parts[1] : "")
        codeOfSlice[index] = source
        let number = edge(source, target, .sets)
        edges[number].keys[key, default: 0] += 1
        edges[number].calls += 1
        nodes[source].sets += 1
      }
    case .delivery:
      let of = known[slice.arguments?.observation ?? ""]
      guard let of else {
        nodeOfSlice.append(object(changed))
        return
      }
      let cause = slice.parent.map { trace.slices[$0] }
      let from = cause?.kind == .change ? Address(cause?.arguments?.object) : of.object
      let key = cause?.kind == .change ? cause?.arguments?.key ?? of.keyPath : of.keyPath
      let target = connect(from, key, of, calls: 1)
      nodeOfSlice.append(target)
      nodes[target].calls += 1
      nodes[target].time += slice.duration - slice.inner
    }
  }

  // MARK: - Circles

  /// Notes that a change of a property of an object notifies an observation, or that an observation sets a property: one by one, also in a
  /// grouped picture, where a chain along the objects of a class would look like a circle.
  private mutating func add(_ from: String, _ to: String, _ edge: Int) {
    if flow[from, default: []].insert(to).inserted { flowEdges.append((from, to, edge)) }
  }

  /// Marks what is in a circle: an observation is notified of a property that it sets, itself or through others. Circles of other objects
  /// of the same classes and keys have one number.
  private mutating func markCircles() {
    let components = Components(of: flow)
    let inside = Dictionary(grouping: flowEdges) { flow in
      let component = components.number[flow.from]!
      return component == components.number[flow.to] && components.sizes[component] > 1 ? component : -1
    }
    var sameKind: [String: [String]] = [:]
    var order: [String] = []
    for (_, steps) in inside.filter({ $0.key >= 0 }).sorted(by: {
      ($0.value[0].edge, $0.value[0].from) < ($1.value[0].edge, $1.value[0].from)
    }) {
      let (text, kind) = describe(steps)
      if sameKind[kind] == nil { order.append(kind) }
      sameKind[kind, default: []].append(text)
      let number = order.firstIndex(of: kind)! + 1
      for edge in steps.map(\.edge) {
        edges[edge].circle = number
        nodes[edges[edge].from].circle = number
        nodes[edges[edge].to].circle = number
      }
    }
    circles = order.map { kind in
      let texts = sameKind[kind]!.sorted()
      switch texts.count {
      case 1: return texts[0]
      case 2: return texts[0] + "; 1 more circle is like it"
      default: return texts[0] + "; \(texts.count - 1) more circles are like it"
      }
    }
  }

  /// The steps of a circle, and what it has in common with those of other objects.
  private func describe(_ steps: [(from: String, to: String, edge: Int)]) -> (text: String, kind: String) {
    let numbers = Set(steps.map(\.edge)).sorted()
    let inside = Set(numbers.flatMap { [edges[$0].from, edges[$0].to] }).map { nodes[$0] }
    let parts = numbers.map { number in
      let edge = edges[number]
      let keys = edge.keys.keys.sorted().joined(separator: ", ")
      let (from, to) = (nodes[edge.from].name, nodes[edge.to].name)
      return edge.kind == .sets ? "\(from) sets \(to).\(keys)" : "\(from).\(keys) notifies \(to)"
    }
    let names = parts.prefix(6).joined(separator: "; ") + (parts.count > 6 ? "; …" : "")
    if Set(inside.map(\.name)).count == inside.count, inside.allSatisfy({ $0.count == 1 }) {
      return (names, steps[0].from)
    }
    // The names do not tell which object is meant.
    return (round(steps), parts.joined(separator: ";"))
  }

  /// One way around, with addresses and lines.
  private func round(_ steps: [(from: String, to: String, edge: Int)]) -> String {
    let next = Dictionary(grouping: steps, by: \.from).mapValues { $0.map(\.to).sorted() }
    let start = steps.map(\.from).filter { known[$0] == nil }.min() ?? steps[0].from
    var before: [String: String] = [:]
    var queue = [start]
    var last = 0
    while last < queue.count, before[start] == nil {
      for to in next[queue[last]] ?? [] where before[to] == nil {
        before[to] = queue[last]
        queue.append(to)
      }
      last += 1
    }
    var way = [start]
    while let from = before[way[0]], from != start { way.insert(from, at: 0) }
    // The way ends with the start; it begins with it, too.
    let parts = way.enumerated().map { index, vertex in
      let name = self.name(vertex)
      if known[vertex] == nil { return "it sets \(name)" }
      return index == 0 ? "\(self.name(start)) notifies \(name)" : "that notifies \(name)"
    }
    return parts.prefix(8).joined(separator: "; ") + (parts.count > 8 ? "; …" : "")
  }

  /// Such as `Point@0x10.x`, or `Point@0x20 (Points.swift:5)` for an observation.
  private func name(_ vertex: String) -> String {
    if let of = known[vertex] {
      let who = of.observer.map { "\(classes[$0.address] ?? $0.className)@\($0.address)" }
      return (who ?? of.observerClass ?? "closure") + (of.place.map { " (\($0))" } ?? "")
    }
    let address = String(vertex.prefix { $0 != "." })
    return "\(classes[address] ?? "object")@\(vertex)"
  }

  /// Keeps the nodes with the most traffic. More would be no picture.
  private mutating func dropQuietNodes() {
    guard nodes.count > Self.most else { return }
    var traffic = nodes.map { $0.circle > 0 ? 1_000_000_000 : 0 }
    for edge in edges {
      traffic[edge.from] += edge.calls + 1
      traffic[edge.to] += edge.calls + 1
    }
    let kept = Set(nodes.indices.sorted { (traffic[$1], $0) < (traffic[$0], $1) }.prefix(Self.most))
    leftOut = nodes.count - kept.count
    edges.removeAll { !kept.contains($0.from) || !kept.contains($0.to) }
    for index in nodes.indices where !kept.contains(index) { nodes[index].count = 0 }  // the page does not draw these
  }
}
