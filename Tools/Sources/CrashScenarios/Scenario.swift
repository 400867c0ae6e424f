// Scenarios in Swift, in the form that the runner in C takes, and the list of all scenarios.
package import CCrashScenarios

package typealias Scenario = kvo_crash_scenario

extension Scenario {
  /// Creates a scenario that runs `body`.
  ///
  /// - Parameters:
  ///   - codes: The faults that it raises when each is ignored, as in `"2 1"`.
  ///   - environment: Environment variables, separated by single spaces.
  ///   - contains: Texts that standard error must contain, separated by `|`.
  ///   - lacks: Texts that it must not contain.
  init(
    _ id: StaticString, _ codes: StaticString, environment: StaticString? = nil, contains: StaticString? = nil,
    lacks: StaticString? = nil, ending: kvo_crash_ending = KVO_CRASH_ENDS_BY_CODES, flags: Flags = [],
    file: StaticString = #filePath, _ body: @escaping @convention(c) () -> Void
  ) {
    self.init(
      id: id.cString, file: file.cString, run: body, codes: codes.cString, environment: environment?.cString,
      contains: contains?.cString, lacks: lacks?.cString, ending: ending, flags: flags.rawValue)
  }

  /// The flags of a scenario: the bits of CCrashScenarios.h.
  struct Flags: OptionSet {
    let rawValue: UInt32
    static let alone = Flags(rawValue: UInt32(KVO_CRASH_ALONE))
    static let orMore = Flags(rawValue: UInt32(KVO_CRASH_OR_MORE))
    static let unreadable = Flags(rawValue: UInt32(KVO_CRASH_UNREADABLE))
  }

  /// The number of the row, a dot and a number if there are several, and `c` for C.
  package var name: String { String(cString: id) }

  /// The environment that it needs.
  package var variables: [String: String] {
    let pairs = (environment.map { String(cString: $0) } ?? "").split(separator: " ").map {
      $0.split(separator: "=", maxSplits: 1).map(String.init)
    }
    return Dictionary(uniqueKeysWithValues: pairs.map { ($0[0], $0[1]) })
  }

  /// The title of the row in the catalogue.
  package var title: String { kvo_crash_row_of(id).map { String(cString: $0.pointee.title) } ?? "" }
}

extension StaticString {
  /// A C string: static strings are null-terminated and never freed.
  fileprivate var cString: UnsafePointer<CChar> {
    UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
  }
}

/// All scenarios, in Swift and in C.
package enum Scenarios {
  package static nonisolated(unsafe) let all: [UnsafePointer<Scenario>] = {
    let swift = lifetimes + endings + removal + registration + delivery + manual + races + machinery
    let memory = UnsafeMutablePointer<Scenario>.allocate(capacity: swift.count)
    memory.initialize(from: swift, count: swift.count)
    var all = swift.indices.map { UnsafePointer(memory + $0) }
    while let scenario = kvo_crash_c_scenario(all.count - swift.count) { all.append(scenario) }
    return all
  }()

  /// Returns the scenario with a name such as `K27` or `K27c`; with that of a row that only C has, such as `K12`, the one in C.
  package static func named(_ name: String) -> UnsafePointer<Scenario>? {
    let names = [name.lowercased(), name.lowercased() + "c"]
    return all.first { names.contains($0.pointee.name.lowercased()) }
  }
}
