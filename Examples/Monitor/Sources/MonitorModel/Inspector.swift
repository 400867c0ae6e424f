// What is observed, how a sample's changes travel, and what that costs: read from the library, while somebody looks.
import Foundation
import KeyValueObserving

@KeyValueObservable
package final class Inspector {
  /// The number of views that show the inspector. While it is 0, nothing is recorded.
  package var viewers = 0
  package private(set) var observations: [Observed] = []
  package private(set) var sample: RecordedSample?
  /// The reason why a sample could not be recorded.
  package private(set) var problem: String?

  @NotObserved private let file = FileManager.default.temporaryDirectory.appendingPathComponent(
    "monitor-\(UUID().uuidString).json")

  package init() {}

  deinit { try? FileManager.default.removeItem(at: file) }

  /// Calls a function, and records what happens in it if that is possible: another recording, such as that of `kvo trace`, may be in
  /// progress. The first record after a viewer has come is that of the next sample.
  func record(_ body: () -> Void) {
    guard viewers > 0 else { return body() }
    let beginning = Result { try ObservationTrace.begin(writingTo: file.path) }
    body()
    do {
      try beginning.get()
      try ObservationTrace.end()
      sample = RecordedSample(try JSONDecoder().decode([TraceEvent].self, from: Data(contentsOf: file)))
      problem = nil
    } catch {
      problem = "\(error)"
    }
    observations = Observed.all(ObservationGraph.current())
  }
}

/// The observations that one line of the program has made, of one key path of the objects of one class.
package struct Observed: Equatable, Codable, Sendable {
  /// Such as `Machine.samples`.
  package let what: String
  /// The class of the observer, if there is one, and what the observation says about itself.
  package let who: String
  /// The line that observes.
  package let place: String
  package var count: Int

  static func all(_ graph: ObservationGraph) -> [Observed] {
    var groups: [String: Observed] = [:]
    for observation in graph.observations {
      let what = graph.objects[observation.object].className + "." + observation.keyPath
      let who = [observation.observerClass, observation.note].compactMap(\.self).joined(separator: ", ")
      let place = observation.registeredAt.map { "\($0.file.split(separator: "/").last ?? ""):\($0.line)" } ?? ""
      groups["\(what)\n\(who)\n\(place)", default: Observed(what: what, who: who, place: place, count: 0)].count += 1
    }
    return groups.values.sorted { ($0.what, $0.place, $0.who) < ($1.what, $1.place, $1.who) }
  }
}
