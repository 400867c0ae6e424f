// What the user prefers: a model, which GSettings stores.

import Foundation
import KeyValueObserving
import KeyValueObservingGLib
import MonitorModel

@KeyValueObservable
final class Preferences {
  /// The seconds between samples.
  var interval = 1.0
  /// Whether the observations are shown.
  var inspects = false

  @NotObserved private var settings: Settings?

  /// Takes the stored values, and stores each change.
  func store(with table: ProcessTable) {
    guard let settings = Settings("org.example.Monitor") else {
      return print("The preferences are not stored: the schema org.example.Monitor is not installed.")
    }
    settings.bind("interval", to: self, \.interval)
    settings.bind("inspects", to: self, \.inspects)
    settings.bind("filter", to: table, \.filter)
    self.settings = settings
  }
}
