// Properties whose values have every form that the compiler stores in its own way: what observers receive, and what they read meanwhile.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  private typealias Handler = (Int) -> Int
  private struct Pair: Equatable {
    var first = 0
    var second = 0
  }
  private struct Unequal { var number = 0 }
  private enum Side { case left, right }
  private protocol Figure {}
  private struct Tile: Figure, Equatable { var side = 0 }

  @KeyValueObservable
  private final class Forms {
    var word = 0
    var real = 0.5
    var byte: UInt8 = 0
    var flag = false
    var half: Int32 = 0
    var optional: Int?
    var text = ""
    var pair = Pair()
    var unequal = Unequal()
    var side = Side.left
    var date = Date(timeIntervalSince1970: 0)
    var tuple: (Int, String) = (0, "")
    var handler: Handler = { $0 }
    var maybe: Handler?
    var type: any Any.Type = Int.self
    var thin: Int.Type = Int.self
    var shape: any Figure = Tile()
    var object = NSObject()
    var list: [Int] = []
    var unwrapped: Int! = 0
  }

  @KeyValueObservable
  private class Gauge { var level = 1 }
  private class DoubleGauge: Gauge {
    override var level: Int {
      get { super.level * 2 }
      set { super.level = newValue }
    }
  }

  @Suite("Values of every form")
  struct ValueFormTests {
    /// What the change carries, and what the getter returns while observers run and afterwards.
    private func expect<Value>(
      _ key: ReferenceWritableKeyPath<Forms, Value>, _ value: Value, _ describe: @escaping (Value) -> String,
      sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) {
      let forms = Forms()
      let old = describe(forms[keyPath: key])
      nonisolated(unsafe) var seen: [String] = []
      nonisolated(unsafe) let describe = describe
      nonisolated(unsafe) let path = key
      let token = forms.observe(key, options: [.old, .new]) { object, change in
        seen.append("\(describe(change.oldValue!)) \(describe(change.newValue!)) \(describe(object[keyPath: path]))")
      }
      let new = describe(value)
      forms[keyPath: key] = value
      #expect(seen == ["\(old) \(new) \(new)"], sourceLocation: sourceLocation)
      #expect(describe(forms[keyPath: key]) == new, sourceLocation: sourceLocation)
      token.invalidate()
    }

    @Test func `Words, bytes, structures, enumerations, texts and objects: observers receive and read the new value`() {
      expect(\.word, 7) { "\($0)" }
      expect(\.real, 7.5) { "\($0)" }
      expect(\.byte, 7) { "\($0)" }
      expect(\.flag, true) { "\($0)" }
      expect(\.half, 7) { "\($0)" }
      expect(\.optional, 7) { "\($0 as Any)" }
      expect(\.text, "a text of more than fifteen bytes") { $0 }
      expect(\.pair, Pair(first: 1, second: 2)) { "\($0)" }
      expect(\.unequal, Unequal(number: 7)) { "\($0)" }
      expect(\.side, .right) { "\($0)" }
      expect(\.date, Date(timeIntervalSince1970: 7)) { "\($0.timeIntervalSince1970)" }
      expect(\.object, NSObject()) { "\(ObjectIdentifier($0))" }
      expect(\.list, [1, 2]) { "\($0)" }
      expect(\.unwrapped, 7) { "\($0 as Any)" }
    }

    @Test func `Functions, metatypes, tuples and existentials: observers receive and read the new value`() {
      let addsFive: Handler = { $0 + 5 }
      expect(\.handler, addsFive) { "\($0(1))" }
      expect(\.maybe, addsFive) { "\($0?(1) as Any)" }
      expect(\.type, String.self) { "\($0)" }
      expect(\.thin, Int.self) { "\($0)" }
      expect(\.tuple, (7, "seven")) { "\($0)" }
      expect(\.shape, Tile(side: 7)) { "\($0)" }
    }

    @Test func `The new value that an observer receives is that of a getter which a subclass overrides`() {
      let gauge = DoubleGauge()
      nonisolated(unsafe) var seen: [Int] = []
      let token = gauge.observe(\.level, options: [.old, .new]) { seen += [$1.oldValue!, $1.newValue!] }
      gauge.level = 5
      #expect(seen == [2, 10])
      token.invalidate()
    }
  }
#endif
