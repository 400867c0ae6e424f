// A log that several threads may write.
#if Macros
  import Foundation

  final class Log<Entry>: @unchecked Sendable {
    private let lock = NSLock()
    private var entries: [Entry] = []

    var all: [Entry] { lock.withLock { entries } }

    @Sendable func add(_ entry: Entry) { lock.withLock { entries.append(entry) } }
  }
#endif
