// The main queue of Dispatch in GLib's main loop.

import CGLib
import CMainQueue
import Dispatch
import Glibc

extension GLib {
  /// Has the default main context run the main queue of Dispatch, and with it the main actor.
  ///
  /// ```swift
  /// @main
  /// struct Application {
  ///   @MainActor static func main() {
  ///     GLib.runMainQueue()
  ///     Task { while true { try await Task.sleep(for: .seconds(1)); model.update() } }
  ///     let application = gtk_application_new("org.example.App", G_APPLICATION_NON_UNIQUE)
  ///     g_application_run(…)
  ///   }
  /// }
  /// ```
  /// Without it neither `Task { @MainActor in … }` nor `DispatchQueue.main.async` ever runs while GLib's main loop has the main thread,
  /// nor are changes of other threads delivered to observers of the main actor. Call it before the main loop runs, in a `main()` that is
  /// not `async`. Further calls do nothing.
  @MainActor
  public static func runMainQueue() { _ = mainQueueSource }

  /// Events, timeouts and redraws come first, as for the deliveries of the C library.
  @MainActor private static let mainQueueSource = g_unix_fd_add_full(
    G_PRIORITY_DEFAULT_IDLE, _dispatch_get_main_queue_handle_4CF(), G_IO_IN,
    { handle, _, _ in
      // Resets the counter of the eventfd, which the queue increments after each new work.
      var count: UInt64 = 0
      read(handle, &count, MemoryLayout.size(ofValue: count))
      _dispatch_main_queue_callback_4CF(nil)
      return gboolean(1)
    }, nil, nil)
}
