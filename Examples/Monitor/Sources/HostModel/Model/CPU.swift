// One core of the machine.
import KeyValueObserving

@KeyValueObservable
package final class CPU {
  package let core: Int
  /// The fraction of the time since the last sample that the core was busy, from 0 to 1.
  package var busyFraction = 0.0
  /// The counters at the last sample.
  @NotObserved var ticks: CPUTicks

  init(core: Int, ticks: CPUTicks) {
    self.core = core
    self.ticks = ticks
  }
}
