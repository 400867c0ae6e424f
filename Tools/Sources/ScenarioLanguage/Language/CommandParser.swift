// Parses a line into a command.
import Foundation
import KeyValueObserving

extension Command {
  /// Parses one line; throws an error that describes the mistake.
  init(line: String) throws {
    var reader = LineReader(line)
    self = try Self.read(&reader, depth: 0)
  }

  /// The maximum depth of reactions to reactions. Parsing is recursive, so the stack limits it.
  private static let deepest = 20

  private static func read(_ reader: inout LineReader, depth: Int) throws -> Command {
    let verb = try reader.word("a command")
    if verb == "on" || verb == "onprior" {
      guard depth < deepest else { throw ScriptError("reactions nest deeper than \(deepest)") }
      return try reaction(&reader, isPrior: verb == "onprior", depth: depth)
    }
    let command =
      try objects(verb, &reader) ?? registrations(verb, &reader) ?? values(verb, &reader)
      ?? announcements(verb, &reader) ?? collections(verb, &reader)
    guard let command else { throw ScriptError("\(quoted(verb)) is no command") }
    try reader.end()
    return command
  }

  private static func objects(_ verb: String, _ reader: inout LineReader) throws -> Command? {
    switch verb {
    case "new":
      let name = try reader.name("the object's name")
      let kind = try reader.word("the class")
      guard kind != "Proxy" else {
        throw ScriptError("Swift has no message forwarding, hence no proxies: \(quoted(name)) is not made")
      }
      return .new(object: name, kind: kind)
    case "free": return .free(object: try reader.name("the object"))
    case "reset": return .reset
    case "isa": return .isa(object: try reader.name("the object"))
    case "info": return .info(object: try reader.name("the object"))
    default: return nil
    }
  }

  private static func registrations(_ verb: String, _ reader: inout LineReader) throws -> Command? {
    guard verb == "add" || verb == "rem" else {
      return verb == "clear" ? .clear(watcher: try reader.name("the observer")) : nil
    }
    let object = try reader.name("the object")
    let watcher = try reader.name("the observer")
    let path = try reader.path()
    var options: NSKeyValueObservingOptions?
    var context: Int?
    while let word = reader.optionalWord() {
      if word.hasPrefix("ctx="), context == nil {
        guard let number = Int(word.dropFirst(4)), number >= 0 else {
          throw ScriptError("\(quoted(word)) is no context")
        }
        context = number
      } else if verb == "add", options == nil {
        options = try self.options(word)
      } else {
        throw ScriptError("unexpected \(quoted(word))")
      }
    }
    let registration = Registration(object: object, watcher: watcher, path: path, context: context ?? 0)
    if verb == "add" { return .add(registration, options: options ?? []) }
    return .remove(registration, withContext: context != nil)
  }

  private static func options(_ word: String) throws -> NSKeyValueObservingOptions {
    let known: [String: NSKeyValueObservingOptions] = [
      "none": [], "new": .new, "old": .old, "initial": .initial, "prior": .prior,
    ]
    var options: NSKeyValueObservingOptions = []
    for name in word.split(separator: ",", omittingEmptySubsequences: false) {
      guard let option = known[String(name)] else { throw ScriptError("\(quoted(String(name))) is no option") }
      options.formUnion(option)
    }
    return options
  }

  private static func values(_ verb: String, _ reader: inout LineReader) throws -> Command? {
    switch verb {
    case "set": .set(object: try reader.name("the object"), key: try reader.word("the key"), try reader.value())
    case "raw": .setRaw(object: try reader.name("the object"), key: try reader.word("the key"), try reader.value())
    case "kvc": .setByPath(object: try reader.name("the object"), path: try reader.path(), try reader.value())
    case "get": .get(object: try reader.name("the object"), path: try reader.path())
    case "inc": .bumpManual(object: try reader.name("the object"))
    case "both": .setBoth(object: try reader.name("the object"), try reader.integer("v"))
    default: nil
    }
  }

  private static func announcements(_ verb: String, _ reader: inout LineReader) throws -> Command? {
    switch verb {
    case "will": return .will(object: try reader.name("the object"), key: try reader.word("the key"))
    case "did": return .did(object: try reader.name("the object"), key: try reader.word("the key"))
    case "willidx", "dididx":
      let object = try reader.name("the object")
      let kind = try reader.oneOf(kinds, "kind of change")
      let key = try reader.word("the key")
      let indexes = try reader.indexes()
      return verb == "willidx"
        ? .willChangeIndexes(object: object, kind, key: key, indexes)
        : .didChangeIndexes(object: object, kind, key: key, indexes)
    case "willset", "didset":
      let object = try reader.name("the object")
      let key = try reader.word("the key")
      let mutation = try reader.oneOf(mutations, "set mutation")
      let elements = try reader.value()
      return verb == "willset"
        ? .willMutateSet(object: object, key: key, mutation, elements)
        : .didMutateSet(object: object, key: key, mutation, elements)
    default: return nil
    }
  }

  private static let kinds: [String: NSKeyValueChange] = [
    "insert": .insertion, "remove": .removal, "replace": .replacement, "set": .setting,
  ]
  private static let mutations: [String: NSKeyValueSetMutationKind] = [
    "union": .union, "minus": .minus, "intersect": .intersect, "set": .set,
  ]

  private static func reaction(_ reader: inout LineReader, isPrior: Bool, depth: Int) throws -> Command {
    let watcher = try reader.name("the observer")
    let path = try reader.path()
    let count = try reader.word("how often")
    guard let times = Int(count), times >= 0 else { throw ScriptError("\(quoted(count)) is no count") }
    let command = try read(&reader, depth: depth + 1)
    return .react(Reaction(watcher: watcher, path: path, isPrior: isPrior, times: times, command: command))
  }
}

extension LineReader {
  /// Parses the name of an object or an observer.
  mutating func name(_ meaning: String) throws -> String {
    let name = try word(meaning)
    let isPlain = name.allSatisfy { $0 == "_" || $0.isLetter || $0.isNumber }
    guard isPlain else { throw ScriptError("\(quoted(name)) is no name") }
    return name
  }

  /// Parses a key path; `""` is the empty one.
  mutating func path() throws -> String {
    let path = try word("the key path")
    return path == "\"\"" ? "" : path
  }

  /// Parses an integer literal.
  mutating func integer(_ key: String) throws -> Int {
    let literal = try value()
    guard case .integer(let number) = literal else { throw ScriptError("\(key) takes an integer here") }
    return number
  }

  mutating func oneOf<Value>(_ known: [String: Value], _ meaning: String) throws -> Value {
    let word = try word("the \(meaning)")
    guard let value = known[word] else { throw ScriptError("\(quoted(word)) is no \(meaning)") }
    return value
  }
}

extension Literal {
  /// Returns the elements of a collection literal of any kind.
  func elements() throws -> [Literal] {
    switch self {
    case .array(let elements), .set(let elements), .orderedSet(let elements): elements
    default: throw ScriptError("a collection is expected: [..], {..} or <..>")
    }
  }
}
