// The command: its options, and one run of the model with its views.
import ArgumentParser
import Dispatch
import Foundation
import Glibc
import HostModel
import MonitorModel
import MonitorTerminal
import MonitorWeb

@main
struct MonitorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "monitor",
    abstract: "Shows this machine's processes, in the terminal and in the browser.",
    discussion: """
      One model is filled from /proc at each sample. The terminal and the page observe it, and both change it: what is \
      selected, sorted or filtered in one is so in the other. The key o, and the last line of the page, show what is \
      observed and how the changes of a sample travel.
      """)

  @Option(help: "The time between samples in seconds, at least 0.05.")
  var interval = 1.0

  @Option(help: "Serve a page on this port of 127.0.0.1; 0 lets the system choose one.")
  var web: UInt16?

  @Flag(inversion: .prefixedNo, help: "Show the processes in the terminal.")
  var terminal = true

  @Option(help: .hidden)
  var proc = "/proc"

  func validate() throws {
    guard interval.isFinite, interval >= 0.05, interval <= 3600 else {
      throw ValidationError("--interval has to be at least 0.05 and at most 3600 seconds.")
    }
    guard terminal || web != nil else { throw ValidationError("--no-terminal shows nothing without --web.") }
  }

  @MainActor
  func run() async throws {
    let monitor = Monitor(folder: ProcFolder(path: proc))
    monitor.sample()
    guard monitor.hasRead else { throw ValidationError("Nothing can be read from \(proc); is it mounted?") }
    // With a second sample the use of the processors is known, so that the busiest process can be selected.
    try await Task.sleep(for: .milliseconds(200))
    monitor.sample()
    monitor.table.moveSelection(by: 0)

    try await withThrowingTaskGroup(of: Void.self) { group in
      var address: String?
      if let web {
        let server = try await WebServer(monitor, port: web).start()
        group.addTask {
          try await withTaskCancellationHandler {
            try await server.running.value
          } onCancel: {
            server.running.cancel()
          }
        }
        address = server.address
        // Not buffered, so that the reader of a pipe gets it.
        if !terminal {
          try FileHandle.standardOutput.write(contentsOf: Data("The page is at \(server.address)\n".utf8))
        }
      }
      let end = AsyncStream<Void>.makeStream()
      let views = Views()
      // On the main queue: a request that takes long may occupy the threads on which tasks run, and must not keep the program.
      let finish: @Sendable () -> Void = {
        end.continuation.finish()
        DispatchQueue.main.asyncAfter(deadline: .now() + 1) {
          MainActor.assumeIsolated { views.screen?.close() }
          Glibc.exit(EXIT_SUCCESS)
        }
      }
      let signals = [SIGINT, SIGTERM, SIGHUP].map { whenReceiving($0, finish) }
      if terminal { views.screen = try MonitorScreen(monitor, address: address, whenQuitting: finish) }
      defer {
        views.screen?.close()
        for signal in signals { signal.cancel() }
      }
      group.addTask { for await _ in end.stream {} }
      group.addTask { try await monitor.sample(every: interval) }
      // The first to end ends the others: the user, or the server with an error.
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  private func whenReceiving(_ number: Int32, _ action: @escaping @Sendable () -> Void) -> any DispatchSourceSignal {
    signal(number, SIG_IGN)  // the default action would end the program before the source receives the signal
    let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
    source.setEventHandler(handler: action)
    source.activate()
    return source
  }
}

@MainActor
private final class Views {
  var screen: MonitorScreen?
}
