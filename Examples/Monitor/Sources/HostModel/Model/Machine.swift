// The root of the model: the machine. Properties that cannot be read stay nil or empty.
import Foundation
import KeyValueObserving

@KeyValueObservable
package final class Machine {
  package var name: String?
  /// In seconds.
  package var uptime: Double?
  package var load: LoadAverages?
  package var memory: Memory?
  package var cpus: [CPU] = []
  /// The processes in the order of their PIDs. Only `insert` and `remove` change the list; they announce the indexes.
  package private(set) var processes: [HostProcess] = []
  /// The process that is observed in detail. It is weak, because observing it must not keep it in the model.
  package weak var spotlight: HostProcess?
  /// The files that could not be read, without duplicates.
  package private(set) var problems: [Problem] = []
  /// The number of samples. Set last in each sample.
  package var samples = 0

  /// The mean of all cores. It depends on each of them and on the list.
  package var busyFraction: Double? {
    cpus.isEmpty ? nil : cpus.reduce(0) { $0 + $1.busyFraction } / Double(cpus.count)
  }

  package init() {}

  /// The lists are announced manually, with indexes; automatic notification would deliver each change twice.
  package static func automaticallyNotifiesObservers(forKey key: String) -> Bool {
    key != "processes" && key != "problems"
  }

  /// Inserts processes; the indexes are those after the insertion.
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

/// A part of the machine's state that cannot be read.
package struct Problem: Equatable, Codable, Sendable {
  package let path: String
  package let reason: String
}
