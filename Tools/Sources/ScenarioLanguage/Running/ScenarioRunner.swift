// Runs scenarios: keeps objects and observers by name, prints what happens, and continues after errors.
import CKVO
import Foundation
import KeyValueObserving

private struct Made {
  weak var object: (any ScenarioObject)?
}

/// Runs scenarios line by line.
///
/// ```swift
/// let runner = ScenarioRunner { print($0) }
/// runner.run("new x T\nadd x w v new\nset x v 5")
/// ```
/// Everything runs on the calling thread. Misuse of observation is printed and not fatal.
package final class ScenarioRunner {
  let transcript: Transcript
  private var objects: [String: any ScenarioObject] = [:]
  private var watchers: [String: Watcher] = [:]
  /// All objects that may still exist, including those without a name.
  private var made: [Made] = []
  private var reactions: [Reaction] = []
  private let depth = Depth()
  /// The number of faults printed since the process began. A command that raised one has no answer.
  private var faultCount = 0
  /// The maximum depth of nested reactions, because the stack is limited and the counts in scenarios are not.
  private static let deepest = 100
  /// The maximum number of reactions to a line: two watchers that react to each other double them at each level.
  private static let mostReactions = 10_000
  /// The number of reactions to the current line.
  private var reactionCount = 0

  /// - Parameter write: Called with each line of output.
  package init(write: @escaping (String) -> Void) { transcript = Transcript(write: write) }

  deinit { forget() }

  /// Runs the lines of a scenario. Empty lines are ignored, and in the output of a run all but the commands.
  package func run(_ scenario: String) {
    let isOutput = scenario.hasPrefix("> ")
    for line in scenario.split(whereSeparator: \.isNewline) where !isOutput || line.hasPrefix("> ") {
      run(line: line.dropFirst(isOutput ? 2 : 0).trimmingCharacters(in: .whitespaces))
    }
  }

  private func run(line: String) {
    guard !line.isEmpty else { return }
    transcript.line("> \(line)")
    reactionCount = 0
    guard line.first != "#" else { return }
    printingErrors {
      var reader = LineReader(line)
      try reader.command()(self)
    }
  }

  /// Runs one command. Fatal faults are printed when they are raised, like Apple's exceptions.
  private func printingErrors(_ body: () throws -> Void) {
    KeyValueFault.withHandler { fault in
      guard fault.severity == .fatal else { return .ignore }
      faultCount += 1
      transcript.line(describe(fault))
      return .ignore
    } in: {
      do {
        try body()
      } catch let error as ScriptError {
        transcript.line("? \(error.text)")
      } catch let error as RaisedException {
        transcript.line("X \(error.name) \(error.text)")
      } catch {
        transcript.line("? \(error)")
      }
    }
  }

  /// Prints the answer of a command unless it raised a fault.
  func answer(_ text: () throws -> String) rethrows {
    let before = faultCount
    let text = try text()
    if faultCount == before { transcript.line("V \(text)") }
  }

  /// Prints the class of an object, and whether its header refers to the notifying class.
  func answerIsa(of object: any ScenarioObject) {
    let word = object.__keyValueObject
    let isSwizzled = kvo_object_isa(word) != kvo_object_class(word)
    answer { "\(type(of: object).kind) \(isSwizzled ? "swizzled" : "plain")" }
  }

  // MARK: - Names

  func object(_ name: String) throws -> any ScenarioObject {
    guard let object = objects[name] else { throw ScriptError("there is no object \(name)") }
    return object
  }

  /// Returns the instance of the model class with a name.
  func model(_ name: String) throws -> T {
    guard let model = try object(name) as? T else { throw ScriptError("\(name) is no T") }
    return model
  }

  func value(_ literal: Literal) throws -> Any? { try literal.value(object) }

  func make(_ name: String, _ kind: String) throws {
    guard objects[name] == nil else { throw ScriptError("there is an object \(name) already") }
    defer { objects[name].map { made.append(Made(object: $0)) } }
    switch kind {
    case "T": objects[name] = T(name, transcript)
    case "Man": objects[name] = Man(name, transcript)
    case "Sub": objects[name] = Sub(name, transcript)
    case "Dict": objects[name] = Dict(name, transcript)
    default: throw ScriptError("there is no class \(quoted(kind))")
    }
  }

  /// Releases the reference to an object, or to an observer if there is no such object.
  func free(_ name: String) throws {
    if objects.removeValue(forKey: name) != nil { return }
    guard watchers.removeValue(forKey: name) != nil else { throw ScriptError("there is no object \(name)") }
  }

  /// Releases everything without output.
  func forget() {
    transcript.muted {
      reactions = []
      KeyValueFault.withHandler { _ in
        .ignore
      } in: {
        watchers = [:]  // first, so that nothing is delivered for the rest
        for each in made { each.object?.letGo() }
        made = []
        objects = [:]
      }
    }
  }

  func watcher(_ name: String) -> Watcher {
    if let known = watchers[name] { return known }
    let watcher = Watcher(name, transcript, depth) { [unowned self] in react(of: $0, to: $1, isPrior: $2) }
    watchers[name] = watcher
    return watcher
  }

  // MARK: - Reactions

  func add(_ reaction: Reaction) { reactions.append(reaction) }

  private func react(of watcher: String, to path: String, isPrior: Bool) {
    for reaction in reactions where reaction.fits(watcher, path, isPrior: isPrior) {
      reaction.left -= 1
      reactionCount += 1
      guard reactionCount <= Self.mostReactions else {
        if reactionCount == Self.mostReactions + 1 {
          transcript.line("? more than \(Self.mostReactions) reactions to one line: the others are passed over")
        }
        return
      }
      printingErrors {
        guard depth.current <= Self.deepest else {
          throw ScriptError("notifications nest deeper than \(Self.deepest): \(watcher) does not react")
        }
        try reaction.command(self)
      }
    }
  }
}

/// A command that a watcher runs when it is notified.
final class Reaction {
  private let watcher: String
  /// The key path; `*` for any.
  private let path: String
  private let isPrior: Bool
  /// How often it runs yet.
  var left: Int
  let command: Command

  init(watcher: String, path: String, isPrior: Bool, times: Int, command: @escaping Command) {
    (self.watcher, self.path, self.isPrior, left, self.command) = (watcher, path, isPrior, times, command)
  }

  func fits(_ watcher: String, _ path: String, isPrior: Bool) -> Bool {
    left > 0 && self.watcher == watcher && self.isPrior == isPrior && (self.path == "*" || self.path == path)
  }
}

/// An exception that a model's accessor raises, as Objective-C's collections do.
struct RaisedException: Error {
  let name: String
  let text: String
}
