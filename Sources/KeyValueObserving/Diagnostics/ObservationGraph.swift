// A snapshot of all observations of the process, as a graph.

import CKVO

/// A snapshot of all observed objects of the process, their observations, and the dependencies of each observation.
///
/// ```swift
/// let graph = ObservationGraph.current()
/// print(graph.observations.count, graph.observations.first?.registeredAt as Any)
/// try graph.dot.write(toFile: "graph.dot", atomically: true, encoding: .utf8)  // dot -Tsvg graph.dot > graph.svg
/// ```
///
/// Objects are in the order of their first observation, followed by the observers that are not observed themselves, in the order of
/// registration. The observations of each object are in the order of registration, and edges in the order in which they were read.
/// Indexes refer to these lists. The type is an addition; Apple's platforms have no equivalent.
public struct ObservationGraph: Equatable, Sendable, Codable {
  /// An object that is observed, or on which an observation of another object depends; or an observer, such as a receiver.
  public struct Object: Equatable, Sendable, Codable {
    /// The name of its class; empty if the object is known only as an observer that C registered.
    public var className: String
    /// The address of the object, which may have been deallocated since.
    public var address: Address
    /// The number of observations of the object.
    public var observations: Int
    /// The number of edges from the object.
    public var edges: Int
    /// The observed key paths of the object without duplicates, in alphabetical order.
    public var keyPaths: [String]

    enum CodingKeys: String, CodingKey {
      case className = "class"
      case address, observations, edges, keyPaths
    }
  }

  /// The kind of an observation: how changes reach it.
  public enum Kind: String, Hashable, Sendable, Codable {
    /// The setter of its single key notifies it.
    case direct
    /// It is evaluated, and notified when a property that its last evaluation has read changes: its edges.
    case expression
  }

  /// A source location.
  public struct Place: Equatable, Sendable, Codable {
    /// The file, as from `#fileID` in Swift and `__FILE__` in C.
    public var file: String
    /// The line in that file.
    public var line: Int
  }

  /// An observation.
  public struct Observation: Equatable, Sendable {
    /// The ID of the observation, which is unique in the process and never reused.
    public var id: Address
    /// The kind of the observation.
    public var kind: Kind
    /// The index of the observed object.
    public var object: Int
    /// The key path as registered.
    public var keyPath: String
    /// The options that it was registered with.
    public var options: NSKeyValueObservingOptions
    /// Whether it ends without a fault when its object is deallocated, as an observation with a closure does.
    public var endsWithObject: Bool
    /// The class of the observer, if there is one.
    public var observerClass: String?
    /// The address of the observer, if there is one.
    public var observer: Address?
    /// The index of the observer among the objects, if there is one. All observations of an observer have the same one, and an observer
    /// that is itself observed is that object.
    public var observerObject: Int?
    /// The context pointer.
    public var context: Address?
    /// What the registration said about itself, such as the queue that delivers and the `userInfo`.
    public var note: String?
    /// The source location of the registration, if known.
    public var registeredAt: Place?
  }

  /// A key that an observation of an expression depends on.
  public struct Edge: Equatable, Sendable, Codable {
    /// The index of the observation.
    public var observation: Int
    /// The index of the object with the key.
    public var object: Int
    /// The key, or `nil` if the observation depends only on the lifetime of the object.
    public var key: String?
    /// Whether the value of the observation is the value of this key.
    public var isValue: Bool
  }

  /// An address or a 64-bit ID, encoded as a string such as `0x7f3c5c0041e0`.
  public struct Address: Hashable, Sendable {
    /// The number.
    public var rawValue: UInt64
  }

  /// The objects.
  public var objects: [Object]
  /// The observations.
  public var observations: [Observation]
  /// The dependencies of the observations of expressions.
  public var edges: [Edge]

  /// Returns a snapshot of all observations of the process.
  ///
  /// It may be called on any thread, also within an observer's closure. It takes about a millisecond for ten thousand observations.
  /// Meanwhile other threads wait when they register or end observations, but not when they set properties.
  public static func current() -> ObservationGraph {
    var made: UnsafeMutablePointer<kvo_graph>?
    guard kvo_snapshot(&made) == KVO_OK, let made else { fatalError("no memory for the graph of observations") }
    defer { kvo_graph_free(made) }
    return ObservationGraph(made.pointee)
  }

  /// One line of JSON, which decodes as an `ObservationGraph`.
  public var json: String { text(KVO_GRAPH_JSON) }

  /// A picture for Graphviz: `dot -Tsvg graph.dot > graph.svg`.
  ///
  /// It has one node for each object and each observer; closures are one node per source line that registered them. One arrow leads from
  /// an object to an observer, with the key paths and the source lines of all observations between these two. Objects that notify each
  /// other in a circle are red. With more than 200 nodes there is one node per class. ``json`` is complete.
  public var dot: String { text(KVO_GRAPH_DOT) }

  /// The same picture as a Mermaid flowchart, for Markdown documents.
  public var mermaid: String { text(KVO_GRAPH_MERMAID) }
}

extension ObservationGraph.Address: Codable, CustomStringConvertible {
  /// The number in hexadecimal with the prefix `0x`.
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

  /// Encodes the number as a string, because JavaScript's numbers cannot represent all 64-bit integers.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

extension ObservationGraph.Observation: Codable {
  enum CodingKeys: String, CodingKey {
    case id, kind, object, keyPath, options, endsWithObject, observerClass, observer, observerObject, context, note,
      registeredAt
  }

  private static let names: [(option: NSKeyValueObservingOptions, name: String)] = [
    (.new, "new"), (.old, "old"), (.initial, "initial"), (.prior, "prior"),
  ]

  /// Decodes an observation in the format of ``ObservationGraph/json``.
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
      note: try container.decodeIfPresent(String.self, forKey: .note),
      registeredAt: try container.decodeIfPresent(ObservationGraph.Place.self, forKey: .registeredAt))
  }

  /// Encodes the same members as ``ObservationGraph/json``.
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
    try container.encodeIfPresent(note, forKey: .note)
    try container.encode(registeredAt, forKey: .registeredAt)
  }
}
