// The window: each widget is bound to a property of the model.

import CAdwaita
import HostModel
import KeyValueObserving
import KeyValueObservingGLib
import MonitorModel

@MainActor
final class MonitorWindow {
  private let builder: Builder
  private let monitor: Monitor
  private let processes: ProcessList
  private let history: HistoryView

  init(_ monitor: Monitor, _ preferences: Preferences) {
    self.monitor = monitor
    let builder = Builder(PackageResources.window_ui)
    self.builder = builder
    processes = ProcessList(builder.pointer("processes"), monitor.table)
    history = HistoryView(builder.pointer("history"), monitor.history)

    let title = builder.object("title")
    monitor.host.source(\.name).map { $0 ?? "Monitor" }.bind(to: title, \.title)
    monitor.table.source(\.title).bind(to: title, \.subtitle)
    monitor.table.source(\.title).bind(to: builder.object("window"), \.title)
    builder.object("filter").bindTwoWay(\.text, with: monitor.table, \.filter)

    let detail = monitor.detail
    detail.source(\.title).bind(to: builder.object("name"), \.label)
    detail.source(\.state).bind(to: builder.object("state"), \.label)
    detail.source(\.commandLine).bind(to: builder.object("command"), \.label)
    builder.object("use").bind(\.label) { [detail.cpu, detail.memory].filter { !$0.isEmpty }.joined(separator: "\n") }

    builder.object("interval").bindTwoWay(\.value_, with: preferences, \.interval)
    builder.object("inspect").bindTwoWay(\.active, with: preferences, \.inspects)
    let inspector = monitor.inspector
    preferences.source(\.inspects).bind(to: builder.object("inspector"), \.visible)
    preferences.source(\.inspects).map { $0 ? 1 : 0 }.bind(to: inspector, \.viewers)
    builder.object("observations").bind(\.label) { Self.text(of: inspector) }
  }

  func present(in application: UnsafeMutablePointer<GtkApplication>) {
    let window = builder.pointer("window").assumingMemoryBound(to: GtkWindow.self)
    gtk_window_set_application(window, application)
    gtk_widget_grab_focus(builder.pointer("processes").assumingMemoryBound(to: GtkWidget.self))
    gtk_window_present(window)
  }

  private static func text(of inspector: Inspector) -> String {
    if let problem = inspector.problem { return problem }
    guard let sample = inspector.sample else { return "The next sample is recorded." }
    let steps = sample.steps.prefix(60).map { step in
      padded(decimal(step.microseconds, 1), 9) + " µs  " + String(repeating: "  ", count: step.depth) + step.text
    }
    let observed = inspector.observations.map { "\($0.count) × \($0.what)  \($0.place)" }
    return """
      The last sample: \(sample.changes) changes, \(sample.calls) calls of observers, \
      \(decimal(sample.microseconds / 1000, 2)) ms
      \(steps.joined(separator: "\n"))

      Observed:
      \(observed.joined(separator: "\n"))
      """
  }
}

/// The objects of a description in XML, as long as this object.
@MainActor
final class Builder {
  private let builder: OpaquePointer

  init(_ description: [UInt8]) {
    builder = description.withUnsafeBytes {
      gtk_builder_new_from_string($0.bindMemory(to: CChar.self).baseAddress, gssize($0.count))
    }
  }

  isolated deinit { g_object_unref(UnsafeMutableRawPointer(builder)) }

  func pointer(_ id: String) -> UnsafeMutableRawPointer {
    guard let object = gtk_builder_get_object(builder, id) else { preconditionFailure("the window has no \(id)") }
    return UnsafeMutableRawPointer(object)
  }

  func object(_ id: String) -> KeyValueRuntimeObject { GLib.object(pointer(id)) }
}
