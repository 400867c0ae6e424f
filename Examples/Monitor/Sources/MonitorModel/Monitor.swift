// The root of what the terminal and the page show. Both change it through its properties, and are told of changes by observations.
import HostModel
import KeyValueObserving

@MainActor
package final class Monitor {
  package let host = Machine()
  package let table: ProcessTable
  package let detail: ProcessDetail
  package let history: History
  package let inspector = Inspector()
  private let sampler: Sampler

  package init(folder: ProcFolder = ProcFolder()) {
    sampler = Sampler(host, folder: folder)
    table = ProcessTable(host)
    detail = ProcessDetail(host, table, folder: folder)
    history = History(host)
  }

  /// Whether anything could be read from the folder.
  package var hasRead: Bool { sampler.hasRead }

  /// Copies the state of /proc into the model. All that is shown follows from these sets.
  package func sample() {
    inspector.record { sampler.sample() }
  }

  /// Samples until the task is cancelled.
  package func sample(every seconds: Double) async throws {
    while true {
      try await Task.sleep(for: .seconds(seconds))
      sample()
    }
  }
}
