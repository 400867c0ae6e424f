// The observers of a host. They only report to the journal; everything printed during a run originates here.
import HostModel
import KeyValueObserving

final class Watch {
  private let host: Machine
  private let journal: Journal
  private let memory: PeakMemory
  private let cores = TokenList()
  private let spotlight = TokenList()
  private var tokens: [NSKeyValueObservation] = []

  /// The peak of used memory so far.
  var peak: PeakMemory.Peak? { memory.peak }

  init(_ host: Machine, _ journal: Journal) {
    self.host = host
    self.journal = journal
    memory = PeakMemory(journal)
    memory.begin(observing: host)
    observeFigures()
    observeCores()
    observeProcesses()
    observeSpotlight()
    observeSampling()
  }

  deinit { memory.end(observing: host) }

  private func observeFigures() {
    tokens += [
      host.observe(\.name, options: [.old, .new]) { [journal] _, change in
        let (old, new) = (change.oldValue ?? nil, change.newValue ?? nil)
        journal.notified(new == old ? nil : new.map { .host(name: $0) })
      },
      host.observe(\.uptime, options: .new) { [journal] _, change in
        journal.notified((change.newValue ?? nil).map { .uptime(seconds: $0) })
      },
      host.observe(\.load, options: .new) { [journal] _, change in
        journal.notified((change.newValue ?? nil).map { .load($0) })
      },
      // The properties that the fraction is computed from need no declaration: the runtime records the reads.
      host.observe(\.memory?.usedFraction, options: [.old, .new]) { [journal] _, change in
        journal.notified(.memory(old: change.oldValue ?? nil, new: change.newValue ?? nil))
      },
      host.observe(\.busyFraction, options: .new) { [journal] host, change in
        // The first sample has no earlier counters to compare with.
        let isMeasured = host.samples > 0
        journal.notified(isMeasured ? (change.newValue ?? nil).map { .busy($0) } : nil)
      },
    ]
  }

  /// One token per core, replaced when a core is added or removed.
  private func observeCores() {
    let token = host.observe(\.cpus, options: .new) { [journal, cores] _, change in
      journal.notified()
      cores.tokens = (change.newValue ?? []).map { cpu in
        cpu.observe(\.busyFraction, options: [.old, .new]) { [journal] cpu, change in
          journal.notified(.cpu(core: cpu.core, old: change.oldValue ?? 0, new: change.newValue ?? 0))
        }
      }
    }
    tokens.append(token)
  }

  private func observeProcesses() {
    let token = host.observe(\.processes, options: [.old, .new]) { [journal] _, change in
      let indexes = change.indexes.map(Array.init) ?? []
      switch change.kind {
      case .insertion:
        journal.notified(.insertion((change.newValue ?? []).map(\.summary), indexes: indexes))
      case .removal:
        journal.notified(.removal((change.oldValue ?? []).map(\.summary), indexes: indexes))
      case .setting, .replacement:
        journal.notified()
      }
    }
    tokens.append(token)
  }

  /// Observes the process in the spotlight in two ways; it ends during the run.
  private func observeSpotlight() {
    tokens.append(
      host.observe(\.spotlight, options: .new) { [journal, spotlight] _, change in
        journal.notified()
        guard let process = change.newValue ?? nil else { return }
        spotlight.tokens = [process.observeUntilItDies(journal)]
        spotlight.summary = process.summary
      })
    tokens.append(
      host.observe(\.spotlight?.state, options: .new) { [journal, spotlight] _, change in
        let isGone = (change.newValue ?? nil) == nil
        journal.notified(isGone ? spotlight.summary.map { .gone($0) } : nil)
      })
  }

  private func observeSampling() {
    tokens += [
      host.observe(\.problems, options: .new) { [journal] _, change in
        journal.notified()
        for problem in change.newValue ?? [] { journal.tell(.unreadable(problem)) }
      },
      // Set last in a sample, so this ends the sample's output.
      host.observe(\.samples, options: .new) { [journal] _, change in
        journal.notified(.sample(change.newValue ?? 0))
      },
    ]
  }
}
