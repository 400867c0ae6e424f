// The observer of the scenarios: prints notifications and runs reactions.
import Foundation
import KeyValueObserving

final class Watcher: KeyValueObserver {
  let name: String
  /// Called after a notification has been printed.
  private let react: (_ watcher: String, _ path: String, _ isPrior: Bool) -> Void
  private let depth: Depth
  private let transcript: Transcript

  init(
    _ name: String, _ transcript: Transcript, _ depth: Depth,
    react: @escaping (_ watcher: String, _ path: String, _ isPrior: Bool) -> Void
  ) {
    self.name = name
    self.transcript = transcript
    self.depth = depth
    self.react = react
  }

  func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    depth.current += 1
    defer { depth.current -= 1 }
    let path = keyPath ?? "-"
    let isPrior = change?[.notificationIsPriorKey] as? Bool ?? false
    func value(_ key: NSKeyValueChangeKey) -> String { change?[key].map { describe($0) } ?? "-" }
    var line = "N obs=\(name) ctx=\(Int(bitPattern: context)) path=\(path) obj=\(describe(object))"
    line += " kind=\(change?[.kindKey] as? UInt ?? 0) old=\(value(.oldKey)) new=\(value(.newKey))"
    line += " idx=\(indexes(change?[.indexesKey])) prior=\(isPrior ? 1 : 0)"
    if depth.current > 1 { line += " d=\(depth.current)" }
    transcript.line(line)
    react(name, path, isPrior)
  }

  private func indexes(_ indexes: Any?) -> String {
    (indexes as? IndexSet).map { $0.map(String.init).joined(separator: ",") } ?? "-"
  }
}

/// The nesting depth of notifications.
final class Depth {
  var current = 0
}
