// Codable: an observable class has the same encoding as the class without the macro.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @KeyValueObservable final class Synthesised: Codable {
    var title = "t"
    var count: Int? = 2
    var unwrapped: Int! = 3
    @NotObserved var scratch = 4
    let version = 5
    let number: Int
    var watched = 6 { didSet {} }
    @NotObserved lazy var cache = 7
    var computed: Int { 8 }
    init(number: Int) { self.number = number }
  }

  @KeyValueObservable final class OwnKeys: NSObject, Codable {
    var title = "t"
    var count: Int?
    var unwrapped: Int!
    var omitted = 9
    let version = 5
    let number: Int
    @NotObserved var scratch = 1
    enum CodingKeys: String, CodingKey {
      case title = "name"
      case count, unwrapped, version, number, scratch
    }
    init(number: Int) { self.number = number }
  }

  @KeyValueObservable final class InExtension {
    var title = "t"
    var count: Int?
  }
  extension InExtension: Codable {}

  @KeyValueObservable final class HalfByHand: Codable {
    var title = "t"
    var count = 1
    init() {}
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      title = try container.decode(String.self, forKey: .title)
    }
  }

  @KeyValueObservable final class HalfByHandWithKeys: Encodable, Decodable {
    var title = "t"
    var count = 1
    enum CodingKeys: CodingKey { case title, count }
    init() {}
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(title + "!", forKey: .title)
      try container.encode(count, forKey: .count)
    }
  }

  @KeyValueObservable class CodableBase: Codable {
    var title = "t"
    init() {}
  }

  @KeyValueObservable class CodableSub: CodableBase {
    var count = 1
  }

  @KeyValueObservable open class OpenCodable<Value: Codable>: Codable {
    open var value: Value
    public init(_ value: Value) { self.value = value }
  }

  protocol CodableModel: KeyValueObservable, Codable {}
  @KeyValueObservable final class ThroughProtocol: CodableModel { var `default` = 1 }

  @KeyValueObservable public final class OnlyEncodable: Encodable {
    public var handler = 3
    enum CodingKeys: CodingKey { case handler }
  }

  @KeyValueObservable final class Preferences: Codable {
    var volume = 3
    var theme: String?
    var level: Int!
    let version = 1
    @NotObserved var scratch: Int?
    enum CodingKeys: String, CodingKey {
      case volume = "vol"
      case theme, level
    }
  }

  @KeyValueObservable open class OpenPreferences: Codable {
    open var volume = 3
    enum CodingKeys: String, CodingKey { case volume = "vol" }
  }
  class DerivedPreferences: OpenPreferences { var loudness = 2 }

  @KeyValueObservable final class ComposedPreferences: NSObject & Codable {
    var volume = 3
    enum CodingKeys: String, CodingKey { case volume = "vol" }
  }

  /// Keys and properties in `#if` blocks, also as a coded property that only another system has.
  @KeyValueObservable final class ConditionalKeys: Codable {
    var name = "n"
    #if os(Linux)
      var balance = 1
    #else
      let balance = 2
    #endif
    #if os(Windows)
      var registry = 3
    #elseif os(Linux)
      var group = 4
    #endif
    enum CodingKeys: String, CodingKey {
      case name
      #if os(Windows)
        case registry
      #else
        #if os(Linux)
          case group = "g"
        #endif
      #endif
      case balance
    }
  }

  private func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  private func value<T: Decodable>(_ type: T.Type, _ json: String) throws -> T {
    try JSONDecoder().decode(type, from: Data(json.utf8))
  }

  @Suite struct Coding {
    @Test func `Synthesised code uses the names of the properties`() throws {
      let object = Synthesised(number: 1)
      let text = #"{"count":2,"number":1,"scratch":4,"title":"t","unwrapped":3,"version":5,"watched":6}"#
      #expect(try json(object) == text)
      let changed = #"{"number":7,"scratch":8,"title":"x","version":100,"watched":9}"#
      let read = try value(Synthesised.self, changed)
      #expect(read.title == "x" && read.count == nil && read.number == 7 && read.version == 5 && read.watched == 9)
      #expect(throws: DecodingError.self) { try value(Synthesised.self, #"{"title":"x"}"#) }
      #expect(changes(of: read, \.title) { read.title = "y" } == ["x -> y"])
    }

    @Test func `Declared coding keys are used, and omitted properties keep their defaults`() throws {
      let object = OwnKeys(number: 1)
      #expect(try json(object) == #"{"name":"t","number":1,"scratch":1,"version":5}"#)
      let read = try value(OwnKeys.self, #"{"name":"x","number":7,"scratch":8,"unwrapped":2,"version":100}"#)
      #expect(read.title == "x" && read.count == nil && read.unwrapped == 2 && read.number == 7)
      #expect(read.version == 5 && read.omitted == 9 && read.scratch == 8)
    }

    @Test func `A class with declared coding keys and a default for each property keeps its init()`() throws {
      let object = Preferences()
      #expect(try json(object) == #"{"vol":3}"#)
      #expect(object.theme == nil && object.level == nil && object.version == 1 && object.scratch == nil)
      #expect(changes(of: object, \.volume) { object.volume = 4 } == ["3 -> 4"])
      #expect(try value(Preferences.self, #"{"vol":5,"theme":"dark"}"#).volume == 5)
      #expect(OpenPreferences().volume == 3 && DerivedPreferences().loudness == 2)
      #expect(try value(ComposedPreferences.self, #"{"vol": 4}"#).volume == 4)
    }

    @Test func `Coding keys and properties in #if blocks are coded where they exist`() throws {
      #expect(try json(ConditionalKeys()) == #"{"balance":1,"g":4,"name":"n"}"#)
      let read = try value(ConditionalKeys.self, #"{"balance":5,"g":6,"name":"x"}"#)
      #expect(read.name == "x" && read.balance == 5 && read.group == 6)
    }

    @Test func `Codable may be declared in an extension or through a protocol, or only one of its halves`() throws {
      #expect(try json(InExtension()) == #"{"title":"t"}"#)
      #expect(try value(InExtension.self, #"{"title":"x","count":3}"#).count == 3)
      #expect(try json(ThroughProtocol()) == #"{"default":1}"#)
      #expect(try json(OnlyEncodable()) == #"{"handler":3}"#)
    }

    @Test func `Handwritten coding methods are kept; subclasses and generic classes code as in plain Swift`() throws {
      let rows: [(any Codable.Type, read: String, written: String)] = [
        (HalfByHand.self, #"{"title":"x"}"#, #"{"count":1,"title":"x"}"#),
        (HalfByHandWithKeys.self, #"{"title":"x","count":2}"#, #"{"count":2,"title":"x!"}"#),
        (CodableSub.self, #"{"title":"x"}"#, #"{"title":"x"}"#),
        (OpenCodable<[Int]>.self, #"{"value":[1]}"#, #"{"value":[1]}"#),
      ]
      for (type, read, written) in rows {
        let object: any Codable = try value(type, read)
        #expect(try json(object) == written, "\(type)")
      }
    }
  }
#endif
