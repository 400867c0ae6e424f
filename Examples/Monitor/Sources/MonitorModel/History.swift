// The use of the machine in the last samples: a list that grows at its end, and loses its first value when it is full.
import Foundation
import HostModel
import KeyValueObserving

@KeyValueObservable
package final class History {
  package struct Point: Equatable, Codable, Sendable {
    /// Fractions from 0 to 1.
    package let cpu: Double
    package let memory: Double
    /// Of the machine, in seconds.
    package let uptime: Double
  }

  package static let capacity = 240
  /// A graph of fewer points has room for this many, so that it soon fills its width.
  package static let leastShown = 30

  /// Announced with indexes, so that an observer is told which value came and which went, and not the whole list.
  package private(set) var points: [Point] = []

  package static func automaticallyNotifiesObservers(forKey key: String) -> Bool { key != "points" }

  package init(_ host: Machine) {
    host.onChange(of: \.samples, for: self) { [weak host] me, _, samples in
      // The first sample has no earlier counters to compare with.
      guard samples > 1, let host else { return }
      me.append(
        Point(cpu: host.busyFraction ?? 0, memory: host.memory?.usedFraction ?? 0, uptime: host.uptime ?? 0))
    }
  }

  private func append(_ point: Point) {
    if points.count == Self.capacity {
      willChange(.removal, valuesAt: [0], for: \.points)
      points.removeFirst()
      didChange(.removal, valuesAt: [0], for: \.points)
    }
    let index = IndexSet(integer: points.count)
    willChange(.insertion, valuesAt: index, for: \.points)
    points.append(point)
    didChange(.insertion, valuesAt: index, for: \.points)
  }
}

extension Collection<History.Point> {
  /// The time that a graph of the points covers, such as `the last 40 s`.
  package var span: String {
    guard let first, let last = Array(suffix(1)).first, last.uptime > first.uptime else { return "" }
    let seconds = Int((last.uptime - first.uptime).rounded())
    return seconds < 120 ? "the last \(seconds) s" : "the last \(seconds / 60) min"
  }
}
