// The memory of the machine.
import KeyValueObserving

@KeyValueObservable
package final class Memory {
  /// In bytes.
  package var total: Int64
  /// The memory available to programs without swapping, in bytes.
  package var available: Int64

  /// A computed property is observable too: the runtime records that it reads `total` and `available`.
  package var used: Int64 { total - available }
  package var usedFraction: Double { total > 0 ? Double(used) / Double(total) : 0 }

  init(_ figures: MemoryFigures) {
    total = figures.total
    available = figures.available
  }
}
