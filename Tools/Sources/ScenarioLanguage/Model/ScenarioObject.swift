// What all objects of a scenario have besides their properties: a name, and a way to tell of their end.
import KeyValueObserving

/// An object that a scenario can name.
protocol ScenarioObject: KeyValueObservable {
  var scenarioName: String { get }
  /// As `new` calls it.
  static var kind: String { get }

  /// Assigns a property, as `x.key = value` does.
  func set(_ key: String, to value: Any?) throws
  /// Assigns what is behind a property, so that nobody is told.
  func setRaw(_ key: String, to value: Any?) throws
  /// Lets go of all other objects, and tells nobody: objects may hold each other in a circle.
  func letGo()
}

/// A superclass apart, so that its properties are no keys of the model.
class Named {
  let scenarioName: String
  let transcript: Transcript

  init(_ name: String, _ transcript: Transcript) {
    scenarioName = name
    self.transcript = transcript
  }
}
