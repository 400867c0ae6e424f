// A typed key path with `!`, or through an implicitly unwrapped property. Reading it directly would trap while an object on it is `nil`.

import CKVO

/// The properties that a key path goes through up to its last `!`. It has no value while one that is unwrapped is `nil`.
final class ForcedPath: Sendable {
  private let steps: [(property: KeyValueProperty, marks: String)]

  /// Finds the properties without evaluating the key path; `nil` if it has no `!` behind a property that its class describes.
  ///
  /// - Parameter chain: The properties that the components name, if all of them are known.
  init?(_ components: [KeyPathComponent], _ chain: KeyPathChain?, from cls: KeyValueClass) {
    var steps: [(property: KeyValueProperty, marks: String)] = []
    var cls: KeyValueClass? = cls
    for (index, component) in components.enumerated() {
      guard let property = chain?.properties[index] ?? cls?.property(of: component) else { break }
      steps.append((property, String(component.marks)))
      cls = property.valueClass
    }
    while let last = steps.last, !last.marks.contains("!") { steps.removeLast() }
    guard !steps.isEmpty else { return nil }
    self.steps = steps
  }

  /// Returns whether a `!` follows a property.
  func isForced(behind index: Int) -> Bool { steps.indices.contains(index) && steps[index].marks.contains("!") }

  /// Returns the result of a function that reads the key path, or `nil` if a value that is unwrapped is `nil`.
  func read<Value>(_ root: AnyObject, _ evaluate: () -> Value) -> Value? {
    guard kvo_track_is_recording() else { return value(of: root, from: 0, evaluate) }
    // The evaluation records what the path goes through. If there is none, what it would have read up to the `nil` is recorded.
    let paused = kvo_track_pause()
    var isPaused = true
    let found = value(of: root, from: 0) {
      kvo_track_resume(paused)
      isPaused = false
      return evaluate()
    }
    guard isPaused else { return found }
    kvo_track_resume(paused)
    return value(of: root, from: 0, evaluate)
  }

  /// Holds each object on the path until the evaluation has ended: another thread may release one that a weak property refers to.
  private func value<Value>(of object: AnyObject, from index: Int, _ evaluate: () -> Value) -> Value? {
    guard index < steps.count else { return evaluate() }
    var value = steps[index].property.read(object)
    for mark in steps[index].marks {
      guard let optional = value as? any OptionalProtocol else { break }
      // Behind a `?` the path ends, and its value is an optional.
      guard let wrapped = optional.wrappedAny else { return mark == "!" ? nil : evaluate() }
      value = wrapped
    }
    guard index + 1 < steps.count else { return withExtendedLifetime(value) { evaluate() } }
    guard let next = observable(value) else { return evaluate() }
    return withExtendedLifetime(next) { self.value(of: next, from: index + 1, evaluate) }
  }
}
