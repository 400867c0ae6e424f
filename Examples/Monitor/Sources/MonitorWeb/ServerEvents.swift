// Streams of the model's changes as server-sent events.
import AsyncAlgorithms
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
  /// The changes of the model from now on, after its present state.
  ///
  /// The stream is registered here, on the main actor; its values are awaited and encoded by the task that serves the client.
  /// `.newest(1)` lets a slow client skip: each value is the whole state. Only the history sends what has been added.
  func events() -> some AsyncSequence<ServerEvent, any Error> & Sendable {
    let state = merge(
      machineSource.values(buffering: .newest(1)).map { ServerEvent("machine", $0) },
      tableSource.values(buffering: .newest(1)).map { ServerEvent("table", $0) },
      detailSource.values(buffering: .newest(1)).map { ServerEvent("detail", $0) })
    let points = history.changes(of: \.points, options: [.initial, .new], buffering: .newest(2 * History.capacity))
      .compactMap { change in change.newValue.map { ServerEvent("history", $0) } }
    return merge(state, points).map { $0 }
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
