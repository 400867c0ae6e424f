// K87 to K97: policies, handlers and reports.
internal import CCrashScenarios
import Foundation
import KeyValueObserving

private func misuse() {
  let sidebar = Panel()
  do {
    let letter = Document("A letter")
    letter.addObserver(sidebar, forKeyPath: "pages")
  }
  withExtendedLifetime(sidebar) {}
}

private func handlerFaults() {
  KeyValueFault.setHandler { _ in
    Document("A reply").removeObserver(Panel(), forKeyPath: "title")  // site K88: the fault in the handler
    return .ignore
  }
  misuse()
}

private func twoFaultAtOnce() { inThreads(2) { _ in misuse() } }
private func eightFaultAtOnce() { inThreads(8) { _ in misuse() } }

private func standardErrorIsClosed() {
  close(STDERR_FILENO)
  misuse()
}

private func valuesArePrivate() {
  let sidebar = Panel()
  do {
    let letter = Document("A letter")
    letter.addObserver(sidebar, forKeyPath: "title", options: [.old, .new])  // site K95: registered
    letter.title = "Dear Anna, hush"
    letter.title = "Dear Bert"
  }
  withExtendedLifetime(sidebar) {}
}

var machinery: [Scenario] {
  [
    .init("K88", "2", flags: .alone, handlerFaults),
    .init("K91", "1", flags: [.alone, .orMore], twoFaultAtOnce),
    .init("K91.2", "1*8", environment: "KVO_POLICY=log", ending: KVO_CRASH_ENDS_WELL, eightFaultAtOnce),
    .init("K92", "34 1", environment: "KVO_POLICY=foo", contains: "foo", misuse),
    .init("K93", "1", flags: [.alone, .unreadable], standardErrorIsClosed),
    .init("K93.2", "1", environment: "KVO_REPORT=json", contains: "{\"schema\":1,", misuse),
    .init("K93.3", "1", environment: "KVO_REPORT=json KVO_REPORT_PATH=/dev/fd/2", contains: "{\"schema\":1,", misuse),
    .init("K94", "1", environment: "KVO_STACKS=8", misuse),
    .init("K95", "1", environment: "KVO_HISTORY=16", lacks: "hush|Bert", valuesArePrivate),
    .init("K95.2", "1", environment: "KVO_HISTORY=16 KVO_VALUES=1", contains: "hush|Bert", valuesArePrivate),
    observerDiedUnderASan,
    .init(
      "K97", "1", environment: "SWIFT_BACKTRACE=enable=yes,color=no",
      contains: "was deallocated|*** Program crashed", misuse),
  ]
}
