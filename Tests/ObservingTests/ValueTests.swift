// Values of every kind of type: exact in typed changes, plain in change dictionaries.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  private enum Level: Int {
    case low = 1
    case high
  }
  private enum Shape {
    case circle(Double)
    case square
  }
  private struct Size { var x = 0 }
  private protocol Named: AnyObject { var name: String { get } }
  private protocol Priced { var price: Int { get } }
  private final class Tag: Named {
    let name: String
    init(_ name: String) { self.name = name }
  }
  private struct Coin: Priced { var price = 1 }

  @KeyValueObservable
  private final class Values {
    var number: Int?
    var level = Level.low
    var optionalLevel: Level?
    var shape = Shape.square
    var size = Size()
    var pair = (0, false)
    var list: [Int] = []
    var words: Set<String> = []
    var table: [Int: Int] = [:]
    var tag: Tag?
    var named: (any Named)?
    var priced: any Priced = Coin()
    var anything: Any = 0
    var maybe: Any?
    var nested: Int??
    var implicit: String! = ""
    var type: Any.Type = Int.self
    var range = 0..<1
    var wide: UInt64 = 0
    var decimal = Decimal(0)
    var null: NSNull?
  }

  @Suite("Observed values")
  struct ValueTests {
    private final class Seen<Value>: @unchecked Sendable {
      var old: Value?
      var new: Value?
    }

    private final class Keeper: KeyValueObserver {
      var last: [NSKeyValueChangeKey: Any] = [:]
      func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
      ) { last = change ?? [:] }
    }

    /// Returns the old and the new value of a change, from the typed API, and the classic API's dictionary.
    private func change<Value>(
      of key: String, _ path: ReferenceWritableKeyPath<Values, Value>, to value: Value
    ) throws -> (old: Value, new: Value, dictionary: [NSKeyValueChangeKey: Any]) {
      let (values, seen, keeper) = (Values(), Seen<Value>(), Keeper())
      let token = values.observe(path, options: [.old, .new]) { _, change in
        (seen.old, seen.new) = (change.oldValue, change.newValue)
      }
      values.addObserver(keeper, forKeyPath: key, options: [.old, .new])
      values[keyPath: path] = value
      values.removeObserver(keeper, forKeyPath: key)
      token.invalidate()
      return (try #require(seen.old), try #require(seen.new), keeper.last)
    }

    /// Returns a change as text: the values of the typed API, and those in the classic API's dictionary with their types.
    private func described<Value>(
      _ key: String, _ path: ReferenceWritableKeyPath<Values, Value>, to value: Value
    ) throws -> String {
      let (old, new, dictionary) = try change(of: key, path, to: value)
      func entry(_ key: NSKeyValueChangeKey) -> String {
        dictionary[key].map { $0 is NSNull ? "null" : "\(type(of: $0)) \($0)" } ?? "-"
      }
      return "\(text(old))>\(text(new)), \(entry(.oldKey))>\(entry(.newKey))"
    }

    @Test func `Values are delivered as themselves, and nil is NSNull in the change dictionary`() throws {
      let rows = [
        (try described("number", \.number, to: 3), "nil>3, null>Int 3"),
        (try described("number", \.number, to: nil), "nil>nil, null>null"),
        (try described("level", \.level, to: .high), "low>high, Level low>Level high"),
        (try described("optionalLevel", \.optionalLevel, to: .high), "nil>high, null>Level high"),
        (try described("shape", \.shape, to: .circle(2)), "square>circle(2.0), Shape square>Shape circle(2.0)"),
        (try described("size", \.size, to: Size(x: 2)), "Size(x: 0)>Size(x: 2), Size Size(x: 0)>Size Size(x: 2)"),
        (
          try described("pair", \.pair, to: (1, true)),
          "(0, false)>(1, true), (Int, Bool) (0, false)>(Int, Bool) (1, true)"
        ),
        (try described("list", \.list, to: [1, 2]), "[]>[1, 2], Array<Int> []>Array<Int> [1, 2]"),
        (try described("words", \.words, to: ["a"]), #"[]>["a"], Set<String> []>Set<String> ["a"]"#),
        (
          try described("table", \.table, to: [1: 2]),
          "[:]>[1: 2], Dictionary<Int, Int> [:]>Dictionary<Int, Int> [1: 2]"
        ),
        (try described("anything", \.anything, to: "text"), "0>text, Int 0>String text"),
        (try described("maybe", \.maybe, to: 4), "nil>4, null>Int 4"),
        (try described("implicit", \.implicit, to: "x"), ">x, String >String x"),
        (try described("range", \.range, to: 1..<3), "0..<1>1..<3, Range<Int> 0..<1>Range<Int> 1..<3"),
        (try described("wide", \.wide, to: .max), "0>18446744073709551615, UInt64 0>UInt64 18446744073709551615"),
        (try described("decimal", \.decimal, to: 1.5), "0>1.5, Decimal 0>Decimal 1.5"),
        (try described("null", \.null, to: NSNull()), "nil><null>, null>null"),
      ]
      for (found, expected) in rows { #expect(found == expected) }
      #expect(try change(of: "type", \.type, to: String.self).new == String.self)
    }

    @Test func `References are to the same objects, with a class or a protocol as the type`() throws {
      let tag = Tag("a")
      let known = try change(of: "tag", \.tag, to: tag)
      #expect(known.old == nil && known.new === tag && known.dictionary[.newKey] as? Tag === tag)
      let named = try change(of: "named", \.named, to: tag)
      #expect(named.new === tag && (named.dictionary[.newKey] as? any Named)?.name == "a")
      let priced = try change(of: "priced", \.priced, to: Coin(price: 5))
      #expect(priced.new.price == 5 && (priced.dictionary[.newKey] as? any Priced)?.price == 5)
    }

    @Test func `Nested optionals are exact in a change, and flat in the change dictionary`() throws {
      let set = try change(of: "nested", \.nested, to: .some(nil))
      let (isNil, isPresentNil) = (set.old == .none, set.new != .none && set.new == .some(nil))
      #expect(isNil && isPresentNil && set.dictionary[.newKey] is NSNull)
    }
  }
#endif
