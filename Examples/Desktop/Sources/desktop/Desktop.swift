// The application: the model of the monitor, in a window of GTK.

import CAdwaita
import Foundation
import HostModel
import KeyValueObserving
import KeyValueObservingGLib
import MonitorModel

@main
@MainActor
struct Desktop {
  private static let monitor = Monitor(folder: ProcFolder())
  private static let preferences = Preferences()
  private static var window: MonitorWindow?

  static func main() {
    // The main actor's tasks run in GLib's main loop.
    GLib.runMainQueue()
    let application = adw_application_new("org.example.Monitor", G_APPLICATION_NON_UNIQUE)!
    let instance = UnsafeMutableRawPointer(application)
    GLib.connect(instance, "startup") { _ in
      preferences.store(with: monitor.table)
      Task { await sample() }
    }
    GLib.connect(instance, "activate") { _ in
      if window == nil { window = MonitorWindow(monitor, preferences) }
      window?.present(in: instance.assumingMemoryBound(to: GtkApplication.self))
    }
    let status = g_application_run(instance.assumingMemoryBound(to: GApplication.self), 1, CommandLine.unsafeArgv)
    // What observes GTK's objects ends before GTK does.
    window = nil
    exit(status)
  }

  private static func sample() async {
    // With a second sample the use of the processors is known, so that the busiest process can be selected.
    monitor.sample()
    try? await Task.sleep(for: .milliseconds(200))
    monitor.sample()
    monitor.table.moveSelection(by: 0)
    while true {
      try? await Task.sleep(for: .seconds(preferences.interval))
      monitor.sample()
    }
  }
}
