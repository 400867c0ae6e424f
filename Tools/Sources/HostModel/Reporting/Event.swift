// What observers report, as values: nothing here keeps an object of the model alive.

enum Event: Equatable, Sendable {
  case host(name: String)
  case uptime(seconds: Double)
  case load(LoadAverages)
  /// Used fractions; nil while there is no memory to ask.
  case memory(old: Double?, new: Double?)
  case cpu(core: Int, old: Double, new: Double)
  /// All cores together.
  case busy(Double)
  case insertion([ProcessSummary], indexes: [Int])
  case removal([ProcessSummary], indexes: [Int])
  /// A new figure of the process in the spotlight.
  case process(ProcessSummary, residentBytes: Int64)
  /// The key path through the spotlight became nil, for the object is dead.
  case gone(ProcessSummary)
  /// The token of the process in the spotlight has ended with its object.
  case ended(ProcessSummary)
  case unreadable(Problem)
  /// A sample is complete.
  case sample(Int)
  case summary(Summary)
}

/// What remains to be said at the end.
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
