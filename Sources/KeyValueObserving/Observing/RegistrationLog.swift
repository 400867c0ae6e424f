// Which observations the current task registers, for KeyValueObservingTesting.

import CKVO
import Synchronization

/// Collects the observations that code of one task registers, with its child tasks and the tasks that inherit from it.
package final class RegistrationLog: Sendable {
  private let observations = Guarded<[UInt64]>([])

  /// How many logs are in use: a registration looks for one only if there are any.
  private static let logs = Atomic<Int>(0)
  @TaskLocal private static var current: RegistrationLog?

  private init() { Self.logs.add(1, ordering: .relaxed) }

  deinit { Self.logs.subtract(1, ordering: .relaxed) }

  /// Calls a function and returns the IDs of the observations that it has registered, whether they have ended or not.
  package static func collect<Result>(
    in body: () throws -> Result
  ) rethrows -> (result: Result, observations: [UInt64]) {
    let log = RegistrationLog()
    let result = try $current.withValue(log, operation: body)
    return (result, log.observations.withLock { $0 })
  }

  /// The same for an asynchronous function.
  package static func collect<Result>(
    isolation: isolated (any Actor)? = #isolation, in body: () async throws -> Result
  ) async rethrows -> (result: Result, observations: [UInt64]) {
    let log = RegistrationLog()
    let result = try await $current.withValue(log, operation: body, isolation: isolation)
    return (result, log.observations.withLock { $0 })
  }

  /// Notes a new observation, and returns it.
  @inline(__always)
  static func noted(_ observation: kvo_observation) -> kvo_observation {
    if logs.load(ordering: .relaxed) != 0 { note(observation) }
    return observation
  }

  @inline(never)
  private static func note(_ observation: kvo_observation) {
    // An outer log also counts what the code of an inner one registers.
    var log = current
    while let each = log {
      each.observations.withLock { $0.append(observation) }
      log = each.outer
    }
  }

  private let outer: RegistrationLog? = RegistrationLog.current
}
