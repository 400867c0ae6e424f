// The graph of all observations at one moment, as a value.

import CKVO

/// Who observes what, at one moment: all observed objects of the process, their observations, and what each depends on.
///
/// ```swift
/// let graph = ObservationGraph.current()
/// print(graph.observations.count, graph.observations.first?.registeredAt as Any)
/// try graph.dot.write(toFile: "graph.dot", atomically: true, encoding: .utf8)  // dot -Tsvg graph.dot > graph.svg
/// ```
///
/// Objects are in the order of their first observation, the observations of each object in the order of registration, and edges
/// in the order in which they were read. Indexes refer to these lists. Our addition; Apple's platforms have nothing of the kind.
public struct ObservationGraph: Equatable, Sendable, Codable {
  /// An object that is observed, or on which an observation of another object depends.
  public struct Object: Equatable, Sendable, Codable {
    /// The name of its class.
    public var className: String
    /// Where it was. It need not live any more.
    public var address: Address
    /// How many observations were made of it.
    public var observations: Int
    /// How many edges come from it.
    public var edges: Int
    /// The key paths that are observed of it, each once, in alphabetical order.
    public var keyPaths: [String]

    enum CodingKeys: String, CodingKey {
      case className = "class"
      case address, observations, edges, keyPaths
    }
  }

  /// How an observation learns of changes.
  public enum Kind: String, Hashable, Sendable, Codable {
    /// From the setter of its one key.
    case direct
    /// From whatever its key path, or its computed property, read last: its edges.
    case expression
  }

  /// A place in the source.
  public struct Place: Equatable, Sendable, Codable {
    /// The file, as `#fileID` gives it in Swift and `__FILE__` in C.
    public var file: String
    /// The line.
    public var line: Int
  }

  /// An observation.
  public struct Observation: Equatable, Sendable {
    /// Its number, which no other observation of the process has, before or after.
    public var id: Address
    /// How it learns of changes.
    public var kind: Kind
    /// The index of the object that it was made of.
    public var object: Int
    /// The key path as registered.
    public var keyPath: String
    /// The options that it was registered with.
    public var options: NSKeyValueObservingOptions
    /// Whether it ends without a fault when its object dies, as those do that are made with a closure.
    public var endsWithObject: Bool
    /// The class of the observer, when there is one.
    public var observerClass: String?
    /// Where the observer is, when there is one.
    public var observer: Address?
    /// The index of the observer among the objects, when it is observed itself.
    public var observerObject: Int?
    /// The context that it was registered with.
    public var context: Address?
    /// Where it was made, when that is known.
    public var registeredAt: Place?
  }

  /// A key whose change an observation of an expression is told of.
  public struct Edge: Equatable, Sendable, Codable {
    /// The index of the observation.
    public var observation: Int
    /// The index of the object that has the key.
    public var object: Int
    /// The key, or `nil` when the observation is told of the object's death only.
    public var key: String?
    /// Whether the value of the observation is just that of this key.
    public var isValue: Bool
  }

  /// An address, or a number of 64 bits; encoded as a string, such as `0x7f3c5c0041e0`.
  public struct Address: Hashable, Sendable {
    /// The number.
    public var rawValue: UInt64
  }

  /// The objects.
  public var objects: [Object]
  /// The observations.
  public var observations: [Observation]
  /// What the observations of expressions depend on.
  public var edges: [Edge]

  /// Takes a picture of all observations of the process.
  ///
  /// May be called on any thread, also within an observer's closure. While the picture is taken, which takes about a millisecond for
  /// ten thousand observations, other threads wait where they begin or end observations; sets of properties go on.
  public static func current() -> ObservationGraph {
    var made: UnsafeMutablePointer<kvo_graph>?
    guard kvo_snapshot(&made) == KVO_OK, let made else { fatalError("no memory for the graph of observations") }
    defer { kvo_graph_free(made) }
    return ObservationGraph(made.pointee)
  }

  /// One line of JSON, which decodes as an `ObservationGraph`.
  public var json: String { text(KVO_GRAPH_JSON) }

  /// For Graphviz: `dot -Tsvg graph.dot > graph.svg`. Arrows go from objects to the observations that their changes are told to.
  public var dot: String { text(KVO_GRAPH_DOT) }

  /// A flowchart of Mermaid, which documentation in Markdown shows.
  public var mermaid: String { text(KVO_GRAPH_MERMAID) }
}

extension ObservationGraph.Address: Codable, CustomStringConvertible {
  /// Hexadecimal, with `0x`.
  public var description: String { "0x" + String(rawValue, radix: 16) }

  /// Decodes a string such as `0x7f3c5c0041e0`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard text.hasPrefix("0x"), let number = UInt64(text.dropFirst(2), radix: 16) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "\"\(text)\" is no address")
    }
    rawValue = number
  }

  /// Encodes a string: numbers of 64 bits do not fit into what JavaScript calls a number.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

extension ObservationGraph.Observation: Codable {
  enum CodingKeys: String, CodingKey {
    case id, kind, object, keyPath, options, endsWithObject, observerClass, observer, observerObject, context,
      registeredAt
  }

  private static let names: [(option: NSKeyValueObservingOptions, name: String)] = [
    (.new, "new"), (.old, "old"), (.initial, "initial"), (.prior, "prior"),
  ]

  /// Decodes what ``ObservationGraph/json`` has of an observation.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    func address(_ key: CodingKeys) throws -> ObservationGraph.Address? {
      let address = try container.decodeIfPresent(ObservationGraph.Address.self, forKey: key)
      return address?.rawValue == 0 ? nil : address
    }
    let options = try container.decode([String].self, forKey: .options)
    self.init(
      id: try container.decode(ObservationGraph.Address.self, forKey: .id),
      kind: try container.decode(ObservationGraph.Kind.self, forKey: .kind),
      object: try container.decode(Int.self, forKey: .object),
      keyPath: try container.decode(String.self, forKey: .keyPath),
      options: Self.names.reduce(into: []) { if options.contains($1.name) { $0.insert($1.option) } },
      endsWithObject: try container.decode(Bool.self, forKey: .endsWithObject),
      observerClass: try container.decodeIfPresent(String.self, forKey: .observerClass),
      observer: try address(.observer),
      observerObject: try container.decodeIfPresent(Int.self, forKey: .observerObject),
      context: try address(.context),
      registeredAt: try container.decodeIfPresent(ObservationGraph.Place.self, forKey: .registeredAt))
  }

  /// Encodes the same members that ``ObservationGraph/json`` has.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(kind, forKey: .kind)
    try container.encode(object, forKey: .object)
    try container.encode(keyPath, forKey: .keyPath)
    try container.encode(Self.names.filter { options.contains($0.option) }.map(\.name), forKey: .options)
    try container.encode(endsWithObject, forKey: .endsWithObject)
    try container.encode(observerClass, forKey: .observerClass)
    try container.encode(observer, forKey: .observer)
    try container.encode(observerObject, forKey: .observerObject)
    try container.encode(context, forKey: .context)
    try container.encode(registeredAt, forKey: .registeredAt)
  }
}
