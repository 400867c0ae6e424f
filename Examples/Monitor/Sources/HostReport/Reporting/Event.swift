// Events that observers report, as values that retain no object of the model.
import HostModel

enum Event: Equatable, Sendable {
  case host(name: String)
  case uptime(seconds: Double)
  case load(LoadAverages)
  /// The used fractions; nil if the memory could not be read.
  case memory(old: Double?, new: Double?)
  case cpu(core: Int, old: Double, new: Double)
  /// All cores together.
  case busy(Double)
  case insertion([ProcessSummary], indexes: [Int])
  case removal([ProcessSummary], indexes: [Int])
  /// A new value of the process in the spotlight.
  case process(ProcessSummary, residentBytes: Int64)
  /// The key path through the spotlight became nil, because the object was deallocated.
  case gone(ProcessSummary)
  /// The observation of the process in the spotlight has ended with its object.
  case ended(ProcessSummary)
  case unreadable(Problem)
  /// A sample is complete.
  case sample(Int)
  case summary(Summary)
}

/// The totals at the end of a run.
struct Summary: Equatable, Codable, Sendable {
  let samples: Int
  let sets: Int
  let notifications: Int
  let interrupted: Bool
  let peakUsedBytes: Int64?
  let peakUsedFraction: Double?
  let processesAppeared: Int
  let processesDisappeared: Int
  let unreadable: Int
  let calibration: Calibration
}
