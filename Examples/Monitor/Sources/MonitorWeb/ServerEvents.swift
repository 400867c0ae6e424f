// Streams of the model's changes as server-sent events.
import Foundation
import KeyValueObserving
import MonitorModel

/// One event: its name and its data, which is one line of JSON.
struct ServerEvent: Sendable {
  let text: String

  init(_ name: String, _ value: some Encodable) {
    let json = (try? JSONEncoder().encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
    text = "event: \(name)\ndata: \(json)\n\n"
  }
}

extension Monitor {
  /// The states of the model from now on, after the present one.
  ///
  /// The stream is registered here, on the main actor; its values are awaited and encoded by the task that serves the client.
  /// `.newest(1)` lets a slow client skip: each value is the whole state.
  func events() -> some AsyncSequence<ServerEvent, any Error> & Sendable {
    KeyValueSource.combineLatest(machineSource, tableSource, detailSource) { machine, table, detail in
      StateSnapshot(machine: machine, table: table, detail: detail)
    }.values(buffering: .newest(1)).map { ServerEvent("state", $0) }
  }

  /// The points that are added to the history, after those that are there.
  func historyEvents() -> some AsyncSequence<ServerEvent, any Error> & Sendable {
    history.changes(of: \.points, options: [.initial, .new], buffering: .newest(2 * History.capacity))
      .compactMap { change in change.newValue.map { ServerEvent("history", $0) } }
  }

  /// The inspector's records, which are made as long as the sequence or an iterator of it exists.
  func inspectorEvents() -> some AsyncSequence<ServerEvent, any Error> & Sendable {
    let viewer = Viewer(inspector)
    return inspectorSource.values(buffering: .newest(1)).map { snapshot in
      withExtendedLifetime(viewer) { ServerEvent("inspector", snapshot) }
    }
  }
}

/// Counts as a viewer of the inspector as long as it exists.
@MainActor
private final class Viewer {
  private let inspector: Inspector

  init(_ inspector: Inspector) {
    self.inspector = inspector
    inspector.viewers += 1
  }

  isolated deinit { inspector.viewers -= 1 }
}
