// flags: -O
// In optimised code the old value lives until the observers have returned, though only the property referred to it.

import Foundation
import KeyValueObserving

final class Token: Equatable, @unchecked Sendable {
  static nonisolated(unsafe) var alive = 0
  let number: Int
  init(_ number: Int) {
    self.number = number
    Token.alive += 1
  }
  deinit { Token.alive -= 1 }
  static func == (left: Token, right: Token) -> Bool { left === right }
}

struct Pair: Equatable {
  var token: Token
  var text: String
  var number: Int32
}

struct Unequal {
  var token: Token
}

struct Empty: Equatable {}

enum Choice: Equatable {
  case token(Token)
  case text(String)
}

@KeyValueObservable
final class Values {
  var token = Token(0)
  var optional: Token?
  var text = ""
  var pair = Pair(token: Token(0), text: "", number: 0)
  var unequal = Unequal(token: Token(0))
  var choice = Choice.text("")
  var list: [Token] = []
  var any: Any = 0
  var empty = Empty()
  var nothing: Void = ()
  var flag = false
}

@KeyValueObservable
class Base {
  var text = ""
  var token = Token(0)
}

class Derived: Base {
  override var token: Token { didSet { _ = oldValue } }
}

@main
enum OptimizedValues {
  static nonisolated(unsafe) var failures = 0

  static func expect(_ condition: Bool, _ what: String, _ line: UInt = #line) {
    if condition { return }
    print("OptimizedValues.swift:\(line): \(what)")
    failures += 1
  }

  /// Sets new values that nothing else refers to, and compares what three observers receive by the numbers in the values.
  static func check<Object: KeyValueObservable, Value>(
    _ object: Object, _ key: ReferenceWritableKeyPath<Object, Value>, _ options: NSKeyValueObservingOptions,
    _ make: @escaping (Int) -> Value, _ number: @escaping (Value) -> Int, _ line: UInt = #line
  ) {
    nonisolated(unsafe) let (key, number) = (key, number)
    nonisolated(unsafe) var seen: [Int] = []
    object[keyPath: key] = make(1)
    let tokens = (0..<3).map { _ in
      object.observe(key, options: options) { object, change in
        if let old = change.oldValue { seen.append(number(old)) }
        if let new = change.newValue { seen.append(number(new)) }
        seen.append(number(object[keyPath: key]))
      }
    }
    let before = Token.alive
    for next in 2..<50 {
      seen = []
      object[keyPath: key] = make(next)
      let prior = options.contains(.prior) ? (options.contains(.old) ? [next - 1] : []) + [next - 1] : []
      let values = (options.contains(.old) ? [next - 1] : []) + (options.contains(.new) ? [next] : []) + [next]
      let expected = [prior, prior, prior, values, values, values].flatMap(\.self)
      expect(seen == expected, "\(key) is \(seen), and not \(expected)", line)
    }
    expect(Token.alive == before, "\(Token.alive - before) values are still alive", line)
    for token in tokens { token.invalidate() }
  }

  @inline(never)
  static func setEmpty(_ values: Values, _ empty: Empty) { values.empty = empty }

  static func text(_ number: Int) -> String { "a text of more than fifteen bytes, \(number)" }
  static func number(_ text: String) -> Int { Int(text.split(separator: " ").last!)! }

  static func main() {
    let values = Values()
    let options: [NSKeyValueObservingOptions] = [
      [], [.old], [.new], [.old, .new], [.prior, .old, .new], [.prior, .old],
    ]
    for options in options {
      check(values, \.token, options, { Token($0) }, { $0.number })
      check(values, \.optional, options, { Token($0) }, { $0!.number })
      check(values, \.text, options, text, number)
      check(
        values, \.pair, options, { Pair(token: Token($0), text: text($0), number: Int32($0)) },
        {
          $0.token.number == number($0.text) && $0.token.number == $0.number ? $0.token.number : -1
        })
      check(values, \.unequal, options, { Unequal(token: Token($0)) }, { $0.token.number })
      check(
        values, \.choice, options, { $0 % 2 == 0 ? .token(Token($0)) : .text(text($0)) },
        {
          switch $0 {
          case .token(let token): token.number
          case .text(let text): number(text)
          }
        })
      check(values, \.list, options, { [Token($0)] }, { $0[0].number })
      check(values, \.any, options, { Token($0) }, { ($0 as! Token).number })
      check(Base(), \.text, options, text, number)
      check(Base(), \.token, options, { Token($0) }, { $0.number })
      check(Derived(), \.token, options, { Token($0) }, { $0.number })
      check(Derived(), \.text, options, text, number)
    }
    nonisolated(unsafe) var known = 0
    let tokens = [
      values.observe(\.empty, options: [.old, .new]) {
        known += ($1.oldValue != nil ? 1 : 0) + ($1.newValue != nil ? 1 : 0)
      },
      values.observe(\.nothing, options: [.old, .new]) {
        known += ($1.oldValue != nil ? 1 : 0) + ($1.newValue != nil ? 1 : 0)
      },
      values.observe(\.flag, options: [.old, .new]) {
        known += ($1.oldValue == false ? 1 : 0) + ($1.newValue == true ? 1 : 0)
      },
    ]
    values.empty = Empty()
    values.nothing = ()
    values.flag = true
    expect(known == 6, "\(known) of 6 values without contents are known")
    for token in tokens { token.invalidate() }
    nonisolated(unsafe) var missing = 0
    let token = values.observe(\.empty, options: [.new]) { if $1.newValue == nil { missing += 1 } }
    for empty in [Empty(), Empty(), Empty()] { setEmpty(values, empty) }
    expect(missing == 0, "\(missing) new values without contents are missing")
    token.invalidate()
    if failures > 0 { exit(1) }
  }
}
