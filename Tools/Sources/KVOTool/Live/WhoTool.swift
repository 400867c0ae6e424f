// kvo who: who observes a key of a class in a running program.
import ArgumentParser
import Foundation

package struct WhoTool: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "who", abstract: "Tells who observes a property in a running program.",
    discussion: """
      Lists the observations of a key or key path, and those of other objects that depend on it: where each was \
      registered, for which object, by which observer, and how often it was notified while kvo was counting.
      """)

  @Argument(help: RunningProgram.help)
  var program: RunningProgram

  @Argument(help: ArgumentHelp("A class, or a class and a key or key path: Document.title.", valueName: "name"))
  var name: String

  @Option(help: "How long to count notifications; 0 does not count.")
  var seconds = 1.0

  @Flag(help: "List each observation, also if several were registered at one place.")
  var all = false

  @Flag(help: "Print the lines of JSON that the program answers.")
  var json = false

  package init() {}

  package func validate() throws {
    try program.validate()
    guard seconds >= 0, seconds <= 86400 else { throw ValidationError("Count from 0 to 86400 seconds.") }
    guard !name.isEmpty, !name.contains("\n") else { throw ValidationError("Name a class: Document.title.") }
  }

  struct Summary: Decodable {
    let objects: Int
    let observations: Int
    let through: Int
    let seconds: Double
  }

  struct Observer: Decodable {
    struct Object: Decodable {
      let `class`: String
      let address: String
      var text: String { "\(`class`)@\(address)" }
    }
    let object: Object
    let keyPath: String
    let via: Object?
    let options: [String]
    let observerClass: String?
    let observer: String
    let note: String?
    let registeredAt: Figures.Place?
    let notifications: Int?

    var who: String {
      if observer == "0x0" { return observerClass ?? "a callback" }
      return "\(observerClass ?? "an observer")@\(observer)"
    }

    /// What observations of one group have in common.
    var group: [String?] {
      [registeredAt?.text, keyPath, object.class, via?.class, observerClass, options.joined(), note]
    }
  }

  package func run() throws { print(try output()) }

  package func output() throws -> String {
    let connection = try program.ask("who \(Int((seconds * 1000).rounded())) \(name)")
    var lines: [Data] = []
    while let line = try connection.line(within: seconds + 10) { lines.append(line) }
    if json { return lines.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n") }
    guard let first = lines.first else { return "" }
    let summary = try JSONDecoder().decode(Summary.self, from: first)
    return text(summary, try lines.dropFirst().map { try JSONDecoder().decode(Observer.self, from: $0) })
  }

  private func text(_ summary: Summary, _ observers: [Observer]) -> String {
    func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
    var head = "\(name): nobody observes it"
    if summary.observations > 0 {
      head = "\(name): \(count(summary.observations, "observation")) of \(count(summary.objects, "object"))"
      if summary.through > 0 { head += ", \(summary.through) more through others" }
    } else if summary.through > 0 {
      head = "\(name): \(count(summary.through, "observation")) through others"
    }
    if summary.seconds > 0, !observers.isEmpty {
      head += "; notifications during \(Columns.short(summary.seconds)) s"
    }
    var groups: [[Observer]] = []
    var places: [[String?]: Int] = [:]
    for observer in observers {
      if !all, let place = places[observer.group] {
        groups[place].append(observer)
      } else {
        places[observer.group] = groups.count
        groups.append([observer])
      }
    }
    return ([head] + groups.map(Self.text)).joined(separator: "\n")
  }

  private static func text(_ group: [Observer]) -> String {
    let first = group[0]
    var what = "\"\(first.keyPath)\" of \(first.object.text)"
    if let via = first.via { what += ", via \(via.text)" }
    what += "  options " + (first.options.isEmpty ? "none" : first.options.joined(separator: "|"))
    if let note = first.note { what += "  " + note }
    let counted = group.compactMap(\.notifications)
    let sum = counted.reduce(0, +)
    let notifications = counted.isEmpty ? nil : "\(sum) notification\(sum == 1 ? "" : "s")"
    var head = first.registeredAt?.text ?? "an unknown place"
    if group.count == 1 {
      head += "  " + first.who
      if let notifications { what += "  " + notifications }
    } else {
      // The number is that of all, so it is in their line.
      let observers = Set(group.map(\.who))
      head += "  \(observers.count == 1 ? first.who : first.observerClass ?? "several observers")"
      head += "  \(group.count) observations"
      if let notifications { head += ", \(notifications)" }
      what = "the first: \(what)  (--all lists them)"
    }
    return Columns.clean("  " + head) + "\n" + Columns.clean("      " + what)
  }
}
