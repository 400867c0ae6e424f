// Reads a line of a scenario from left to right: words, numbers, values.
import Foundation

struct LineReader {
  private let line: [Character]
  private var position = 0
  /// Deeper nested values are refused: reading them would take the stack.
  private static let deepest = 50

  init(_ line: String) { self.line = Array(line) }

  var isAtEnd: Bool {
    mutating get {
      skipSpace()
      return position == line.count
    }
  }

  /// What is left, without the spaces around it.
  mutating func rest() -> String {
    skipSpace()
    defer { position = line.count }
    return String(line[position...])
  }

  /// The next characters up to a space, or an error that says what should be there.
  mutating func word(_ meaning: String) throws -> String {
    skipSpace()
    let start = position
    while let next = peek, !next.isWhitespace { position += 1 }
    guard position > start else { throw ScriptError("\(meaning) is missing") }
    return String(line[start..<position])
  }

  /// The next word if there is one.
  mutating func optionalWord() -> String? { try? word("") }

  mutating func index() throws -> Int {
    let text = try word("an index")
    return try Self.index(text)
  }

  /// Indexes separated by commas.
  mutating func indexes() throws -> IndexSet {
    let text = try word("a list of indexes")
    return IndexSet(
      try text.split(separator: ",", omittingEmptySubsequences: false).map { try Self.index(String($0)) })
  }

  private static func index(_ text: String) throws -> Int {
    // No collection here is longer, and an IndexSet cannot hold the greatest Int.
    guard let index = Int32(text), index >= 0 else { throw ScriptError("\(quoted(text)) is no index") }
    return Int(index)
  }

  /// Ends a line: what is left is one argument too many.
  mutating func end() throws {
    guard isAtEnd else { throw ScriptError("unexpected \(quoted(rest()))") }
  }

  mutating func value() throws -> Literal { try value(depth: 0) }

  private mutating func value(depth: Int) throws -> Literal {
    guard depth < Self.deepest else { throw ScriptError("values nest deeper than \(Self.deepest)") }
    skipSpace()
    switch peek {
    case nil: throw ScriptError("a value is missing")
    case "\"": return .string(try string())
    case "[": return .array(try elements(until: "]", depth))
    case "{": return .set(try elements(until: "}", depth))
    case "<": return .orderedSet(try elements(until: ">", depth))
    default: return try atom()
    }
  }

  private mutating func elements(until closing: Character, _ depth: Int) throws -> [Literal] {
    position += 1
    var elements: [Literal] = []
    while true {
      skipSpace()
      guard let next = peek else { throw ScriptError("\(closing) is missing") }
      if next == closing {
        position += 1
        return elements
      }
      elements.append(try value(depth: depth + 1))
    }
  }

  /// A string between quotation marks; a backslash stands before a quotation mark, a backslash, an n or a t.
  private mutating func string() throws -> String {
    position += 1
    var string = ""
    while let next = peek {
      position += 1
      switch next {
      case "\"": return string
      case "\\":
        guard let escaped = peek, let character = escapes[escaped] else {
          throw ScriptError("a backslash stands before \\, \", n or t")
        }
        position += 1
        string.append(character)
      default: string.append(next)
      }
    }
    throw ScriptError("the closing quotation mark is missing")
  }

  private mutating func atom() throws -> Literal {
    let start = position
    while let next = peek, !next.isWhitespace, !"]}>".contains(next) { position += 1 }
    let text = String(line[start..<position])
    switch text {
    case "nil": return .nil
    case "null": return .null
    case "true": return .bool(true)
    case "false": return .bool(false)
    default: break
    }
    if text.first == "@", text.count > 1 { return .object(String(text.dropFirst())) }
    if text.hasPrefix("r:"), let range = Self.range(text.dropFirst(2)) { return .range(range) }
    if let integer = Int(text) { return .integer(integer) }
    if let first = text.first(where: { $0 != "-" }), first.isASCII, first.isNumber, let double = Double(text) {
      return .double(double)
    }
    throw ScriptError("\(quoted(text)) is no value")
  }

  private static func range(_ text: Substring) -> NSRange? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let location = Int32(parts[0]), let length = Int32(parts[1]), location >= 0, length >= 0
    else { return nil }
    return NSRange(location: Int(location), length: Int(length))
  }

  private var peek: Character? { position < line.count ? line[position] : nil }

  private mutating func skipSpace() {
    while let next = peek, next.isWhitespace { position += 1 }
  }
}

/// What may stand after a backslash, and what it stands for.
let escapes: [Character: Character] = ["\"": "\"", "\\": "\\", "n": "\n", "t": "\t"]

/// A piece of a scenario as error texts show it.
func quoted(_ text: String) -> String { "\"\(text)\"" }
