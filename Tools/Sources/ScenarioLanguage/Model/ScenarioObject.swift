// The common part of all objects of a scenario: a name, and a report of their deallocation.
import KeyValueObserving

/// An object that a scenario can name.
protocol ScenarioObject: KeyValueObservable {
  var scenarioName: String { get }
  /// The class name that the command `new` uses.
  static var kind: String { get }

  /// Sets a property, like `x.key = value`.
  func set(_ key: String, to value: Any?) throws
  /// Sets the storage of a property, without a notification.
  func setRaw(_ key: String, to value: Any?) throws
  /// Releases all other objects without a notification, because objects may form a reference cycle.
  func letGo()
}

/// A separate superclass, so that its properties are not keys of the model.
class Named {
  let scenarioName: String
  let transcript: Transcript

  init(_ name: String, _ transcript: Transcript) {
    scenarioName = name
    self.transcript = transcript
  }
}
