// The root of the model: the machine. What cannot be read stays nil or empty.
import Foundation
import KeyValueObserving

@KeyValueObservable
final class Host {
  var name: String?
  /// In seconds.
  var uptime: Double?
  var load: LoadAverages?
  var memory: Memory?
  var cpus: [CPU] = []
  /// Ordered by pid. Changed by `insert` and `remove` only, which tell the positions.
  private(set) var processes: [HostProcess] = []
  /// The process that is looked at more closely. Weak: looking at it must not keep it in the model.
  weak var spotlight: HostProcess?
  /// What could not be read, each once.
  private(set) var problems: [Problem] = []
  /// Set last in each sample.
  var samples = 0

  /// Over all cores. Depends on each of them, and on the list.
  var busyFraction: Double? {
    cpus.isEmpty ? nil : cpus.reduce(0) { $0 + $1.busyFraction } / Double(cpus.count)
  }

  /// The lists are announced by hand, with positions; the setter notifying as well would tell each change twice.
  static func automaticallyNotifiesObservers(forKey key: String) -> Bool { key != "processes" && key != "problems" }

  /// Inserts processes; the indexes are their positions afterwards.
  func insert(_ new: [HostProcess], at indexes: IndexSet) {
    guard !new.isEmpty else { return }
    willChange(.insertion, valuesAt: indexes, for: \.processes)
    for (index, process) in zip(indexes, new) { processes.insert(process, at: index) }
    didChange(.insertion, valuesAt: indexes, for: \.processes)
  }

  func removeProcesses(at indexes: IndexSet) {
    guard !indexes.isEmpty else { return }
    willChange(.removal, valuesAt: indexes, for: \.processes)
    for index in indexes.reversed() { processes.remove(at: index) }
    didChange(.removal, valuesAt: indexes, for: \.processes)
  }

  func add(_ problem: Problem) {
    let index = IndexSet(integer: problems.count)
    willChange(.insertion, valuesAt: index, for: \.problems)
    problems.append(problem)
    didChange(.insertion, valuesAt: index, for: \.problems)
  }
}

/// Something of the machine that cannot be read.
struct Problem: Equatable, Codable, Sendable {
  let path: String
  let reason: String
}
