// Parses a line into what it does.
import CKVO
import Foundation
import KeyValueObserving

/// What one line of a scenario does.
typealias Command = (ScenarioRunner) throws -> Void

extension LineReader {
  /// The maximum depth of reactions to reactions. Parsing is recursive, so the stack limits it.
  private static let deepestReaction = 20

  /// Parses the rest of the line; throws an error that describes the mistake.
  mutating func command(depth: Int = 0) throws -> Command {
    let verb = try word("a command")
    if verb == "on" || verb == "onprior" {
      guard depth < Self.deepestReaction else {
        throw ScriptError("reactions nest deeper than \(Self.deepestReaction)")
      }
      return try reaction(isPrior: verb == "onprior", depth: depth)
    }
    let command = try objects(verb) ?? registrations(verb) ?? values(verb) ?? announcements(verb) ?? collections(verb)
    guard let command else { throw ScriptError("\(quoted(verb)) is no command") }
    try end()
    return command
  }

  private mutating func objects(_ verb: String) throws -> Command? {
    switch verb {
    case "new":
      let (object, kind) = (try name("the object's name"), try word("the class"))
      guard kind != "Proxy" else {
        throw ScriptError("Swift has no message forwarding, hence no proxies: \(quoted(object)) is not made")
      }
      return { try $0.make(object, kind) }
    case "reset": return { $0.forget() }
    case "free":
      let object = try name("the object")
      return { try $0.free(object) }
    case "isa":
      let object = try name("the object")
      return { try $0.answerIsa(of: $0.object(object)) }
    case "info":
      let object = try name("the object")
      return { runner in try runner.answer { try runner.object(object).observationInfo == nil ? "noinfo" : "info" } }
    default: return nil
    }
  }

  private mutating func registrations(_ verb: String) throws -> Command? {
    guard verb == "add" || verb == "rem" else { return nil }
    let (object, watcher, keyPath) = (try name("the object"), try name("the observer"), try path())
    var options: NSKeyValueObservingOptions?
    var context: Int?
    while let word = optionalWord() {
      if word.hasPrefix("ctx="), context == nil {
        guard let number = Int(word.dropFirst(4)), number >= 0 else {
          throw ScriptError("\(quoted(word)) is no context")
        }
        context = number
      } else if verb == "add", options == nil {
        options = try Self.options(word)
      } else {
        throw ScriptError("unexpected \(quoted(word))")
      }
    }
    let pointer = UnsafeMutableRawPointer(bitPattern: context ?? 0)
    if verb == "add" {
      return { [options] in
        try $0.object(object).addObserver(
          $0.watcher(watcher), forKeyPath: keyPath, options: options ?? [], context: pointer)
      }
    }
    // Without "ctx=", the method that has no context parameter.
    if context == nil {
      return { try $0.object(object).removeObserver($0.watcher(watcher), forKeyPath: keyPath) }
    }
    return { try $0.object(object).removeObserver($0.watcher(watcher), forKeyPath: keyPath, context: pointer) }
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

  private mutating func values(_ verb: String) throws -> Command? {
    guard ["set", "raw", "kvc", "get", "inc", "both"].contains(verb) else { return nil }
    let object = try name("the object")
    switch verb {
    case "set":
      let (key, literal) = (try word("the key"), try value())
      return { try $0.object(object).set(key, to: $0.value(literal)) }
    case "raw":
      let (key, literal) = (try word("the key"), try value())
      return { try $0.object(object).setRaw(key, to: $0.value(literal)) }
    case "kvc":
      let (keyPath, literal) = (try path(), try value())
      return { try $0.object(object).setValue($0.value(literal), forKeyPath: keyPath) }
    case "get":
      let keyPath = try path()
      return { runner in try runner.answer { describe(try runner.object(object).value(forKeyPath: keyPath)) } }
    case "inc": return { try $0.model(object).bumpManual() }
    default:
      guard case .integer(let number) = try value() else { throw ScriptError("v takes an integer here") }
      return { try $0.model(object).setBoth(number) }
    }
  }

  private mutating func announcements(_ verb: String) throws -> Command? {
    guard ["will", "did", "willidx", "dididx", "willset", "didset"].contains(verb) else { return nil }
    let (object, isWill) = (try name("the object"), verb.hasPrefix("will"))
    switch verb {
    case "will", "did":
      let key = try word("the key")
      return {
        let object = try $0.object(object)
        isWill ? object.willChangeValue(forKey: key) : object.didChangeValue(forKey: key)
      }
    case "willidx", "dididx":
      let kind = try oneOf(Self.kinds, "kind of change")
      let (key, positions) = (try word("the key"), try indexes())
      return {
        let object = try $0.object(object)
        isWill
          ? object.willChange(kind, valuesAt: positions, forKey: key)
          : object.didChange(kind, valuesAt: positions, forKey: key)
      }
    default:
      let key = try word("the key")
      let mutation = try oneOf(Self.mutations, "set mutation")
      let literal = try value()
      return {
        let (object, members) = (try $0.object(object), try $0.members(literal.elements()))
        isWill
          ? object.willChangeValue(forKey: key, withSetMutation: mutation, using: members)
          : object.didChangeValue(forKey: key, withSetMutation: mutation, using: members)
      }
    }
  }

  private static let kinds: [String: NSKeyValueChange] = [
    "insert": .insertion, "remove": .removal, "replace": .replacement, "set": .setting,
  ]
  private static let mutations: [String: NSKeyValueSetMutationKind] = [
    "union": .union, "minus": .minus, "intersect": .intersect, "set": .set,
  ]

  private mutating func reaction(isPrior: Bool, depth: Int) throws -> Command {
    let (watcher, keyPath, count) = (try name("the observer"), try path(), try word("how often"))
    guard let times = Int(count), times >= 0 else { throw ScriptError("\(quoted(count)) is no count") }
    let reaction = try command(depth: depth + 1)
    return { $0.add(Reaction(watcher: watcher, path: keyPath, isPrior: isPrior, times: times, command: reaction)) }
  }

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

  private mutating func oneOf<Value>(_ known: [String: Value], _ meaning: String) throws -> Value {
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
