// Reads the words, numbers and values of a scenario line from left to right.
import Foundation

struct LineReader {
  private let line: [Character]
  private var position = 0
  /// The maximum depth of nested values. Parsing is recursive, so the stack limits it.
  private static let deepest = 50

  init(_ line: String) { self.line = Array(line) }

  var isAtEnd: Bool {
    mutating get {
      skipSpace()
      return position == line.count
    }
  }

  /// Returns the rest of the line without surrounding spaces.
  mutating func rest() -> String {
    skipSpace()
    defer { position = line.count }
    return String(line[position...])
  }

  /// Returns the characters up to the next space; throws an error that names the missing argument if there are none.
  mutating func word(_ meaning: String) throws -> String {
    skipSpace()
    let start = position
    while let next = peek, !next.isWhitespace { position += 1 }
    guard position > start else { throw ScriptError("\(meaning) is missing") }
    return String(line[start..<position])
  }

  /// Returns the next word, if there is one.
  mutating func optionalWord() -> String? { try? word("") }

  mutating func index() throws -> Int {
    let text = try word("an index")
    return try Self.index(text)
  }

  /// Parses indexes separated by commas.
  mutating func indexes() throws -> IndexSet {
    let text = try word("a list of indexes")
    return IndexSet(
      try text.split(separator: ",", omittingEmptySubsequences: false).map { try Self.index(String($0)) })
  }

  private static func index(_ text: String) throws -> Int {
    // No collection here is longer, and an IndexSet cannot contain Int.max.
    guard let index = Int32(text), index >= 0 else { throw ScriptError("\(quoted(text)) is no index") }
    return Int(index)
  }

  /// Checks that the line has no further arguments.
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

  /// Parses a string in quotation marks; quotation marks, backslashes, newlines and tabs are escaped with a backslash.
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

/// The characters after a backslash, and their meanings.
let escapes: [Character: Character] = ["\"": "\"", "\\": "\\", "n": "\n", "t": "\t"]

/// Returns a part of a scenario in quotation marks, for error messages.
func quoted(_ text: String) -> String { "\"\(text)\"" }
