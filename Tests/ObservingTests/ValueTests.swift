// Values of every kind of type: exact in typed changes, plain in change dictionaries.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  private enum Level: Int {
    case low = 1
    case high
  }
  private enum Shape: Equatable {
    case circle(radius: Double)
    case square
  }
  private struct Size: Equatable { var width = 0, height = 0 }
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
    var pair: (Int, String) = (0, "")
    var list: [Int] = []
    var words: Set<String> = []
    var table: [String: Int] = [:]
    var tag: Tag?
    var named: (any Named)?
    var priced: any Priced = Coin()
    var anything: Any = 0
    var maybe: Any?
    var action: () -> Int = { 0 }
    var callback: ((Int) -> Int)?
    var nested: Int??
    var implicit: String! = ""
    var type: Any.Type = Int.self
    var range = 0..<1
    var wide: UInt64 = 0
    var decimal = Decimal(0)
    var null: NSNull? = nil
  }

  @Suite("Observed values")
  struct ValueTests {
    private final class Seen<Value>: @unchecked Sendable {
      var old: Value?
      var new: Value?
    }

    /// Returns the old and the new value of a change, from the typed and from the classic API.
    private func change<Value>(
      of key: String, _ path: ReferenceWritableKeyPath<Values, Value>, to value: Value
    ) throws -> (old: Value, new: Value, dictionary: [NSKeyValueChangeKey: Any]) {
      let values = Values()
      let seen = Seen<Value>()
      let keeper = Keeper()
      let token = values.observe(path, options: [.old, .new]) { _, change in
        (seen.old, seen.new) = (change.oldValue, change.newValue)
      }
      values.addObserver(keeper, forKeyPath: key, options: [.old, .new])
      values[keyPath: path] = value
      values.removeObserver(keeper, forKeyPath: key)
      token.invalidate()
      return (try #require(seen.old), try #require(seen.new), keeper.last)
    }

    private final class Keeper: KeyValueObserver {
      var last: [NSKeyValueChangeKey: Any] = [:]
      func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
      ) { last = change ?? [:] }
    }

    @Test func `An optional is nil or its value, and NSNull in the change dictionary`() throws {
      let set = try change(of: "number", \.number, to: 3)
      #expect(set.old == .some(nil) && set.new == 3)
      #expect(set.dictionary[.oldKey] is NSNull && set.dictionary[.newKey] as? Int == 3)
      let cleared = try change(of: "number", \.number, to: nil)
      #expect(cleared.new == .some(nil) && cleared.dictionary[.newKey] is NSNull)
    }

    @Test func `An enum with raw values is delivered as itself, not as its raw value`() throws {
      let set = try change(of: "level", \.level, to: .high)
      #expect(set.old == .low && set.new == .high && set.dictionary[.newKey] as? Level == .high)
      let optional = try change(of: "optionalLevel", \.optionalLevel, to: .high)
      #expect(optional.old == .some(nil) && optional.new == .high && optional.dictionary[.newKey] as? Level == .high)
    }

    @Test func `An enum with payloads, a struct and a tuple keep their contents`() throws {
      #expect(try change(of: "shape", \.shape, to: .circle(radius: 2)).new == .circle(radius: 2))
      let size = try change(of: "size", \.size, to: Size(width: 2, height: 3))
      #expect(size.old == Size() && size.dictionary[.newKey] as? Size == Size(width: 2, height: 3))
      let pair = try change(of: "pair", \.pair, to: (1, "x"))
      #expect(pair.new == (1, "x") && pair.dictionary[.newKey] as? (Int, String) ?? (0, "") == (1, "x"))
    }

    @Test func `Arrays, sets and dictionaries are Swift values`() throws {
      #expect(try change(of: "list", \.list, to: [1, 2]).dictionary[.newKey] as? [Int] == [1, 2])
      #expect(try change(of: "words", \.words, to: ["a"]).dictionary[.newKey] as? Set<String> == ["a"])
      #expect(try change(of: "table", \.table, to: ["a": 1]).dictionary[.newKey] as? [String: Int] == ["a": 1])
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

    @Test func `Any contains the value that was set, including nil`() throws {
      #expect(try change(of: "anything", \.anything, to: "text").new as? String == "text")
      let maybe = try change(of: "maybe", \.maybe, to: 4)
      #expect(maybe.old == nil && maybe.new as? Int == 4 && maybe.dictionary[.oldKey] is NSNull)
    }

    @Test func `Closures can be delivered and called`() throws {
      let action = try change(of: "action", \.action, to: { 42 })
      #expect(action.old() == 0 && action.new() == 42)
      let callback = try change(of: "callback", \.callback, to: { $0 + 1 })
      #expect(callback.old == nil && callback.new?(1) == 2)
      #expect((callback.dictionary[.newKey] as? (Int) -> Int)?(2) == 3)
    }

    @Test func `Nested optionals are exact in a change, and flat in the change dictionary`() throws {
      let set = try change(of: "nested", \.nested, to: .some(nil))
      guard case .none = set.old else {
        Issue.record("not nil: \(set.old as Any)")
        return
      }
      guard case .some(.some(.none)) = Optional(set.new) else {
        Issue.record("not a present nil: \(set.new as Any)")
        return
      }
      #expect(set.dictionary[.newKey] is NSNull)
    }

    @Test func `Other types of values`() throws {
      #expect(try change(of: "implicit", \.implicit, to: "x").new == "x")
      #expect(try change(of: "type", \.type, to: String.self).new == String.self)
      #expect(try change(of: "range", \.range, to: 1..<3).dictionary[.newKey] as? Range<Int> == 1..<3)
      #expect(try change(of: "wide", \.wide, to: .max).dictionary[.newKey] as? UInt64 == .max)
      #expect(try change(of: "decimal", \.decimal, to: 1.5).dictionary[.newKey] as? Decimal == 1.5)
      #expect(try change(of: "null", \.null, to: NSNull()).dictionary[.newKey] is NSNull)
    }
  }
#endif
