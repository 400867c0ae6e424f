// The changes of one sample and the observers that they called, from the library's trace.

/// A line of the trace; only the members that are needed.
struct TraceEvent: Decodable {
  /// B begins a slice, E ends the innermost one.
  let ph: String
  /// The thread.
  let tid: Int
  /// In microseconds.
  let ts: Double
  let name: String?
  let cat: String?
}

package struct RecordedSample: Equatable, Codable, Sendable {
  /// A change, or a call of an observer, which the step of the next lower depth before it has caused.
  package struct Step: Equatable, Codable, Sendable {
    package let depth: Int
    package let text: String
    package let isChange: Bool
    /// With all that it has caused.
    package var microseconds: Double
  }

  package private(set) var steps: [Step] = []
  /// The number of changes of observed properties, and of calls of their observers.
  package var changes: Int { steps.count { $0.isChange } }
  package var calls: Int { steps.count { !$0.isChange } }
  /// The time of all changes, with all that they have caused; the recording makes it longer.
  package var microseconds: Double { steps.reduce(0) { $0 + ($1.depth == 0 ? $1.microseconds : 0) } }

  /// The steps of one thread, that of the main actor: no other sets properties of the model.
  init(_ events: [TraceEvent]) {
    let thread = events.first { $0.ph == "B" }?.tid
    var open: [(index: Int, begin: Double)] = []
    for event in events where event.tid == thread {
      switch event.ph {
      case "B":
        open.append((steps.count, event.ts))
        let isChange = event.cat == "change"
        steps.append(Step(depth: open.count - 1, text: event.name ?? "", isChange: isChange, microseconds: 0))
      case "E":
        guard let slice = open.popLast() else { continue }
        steps[slice.index].microseconds = event.ts - slice.begin
      default: break
      }
    }
  }
}
