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

private func handlerGoesOn() {
  var codes: [Int] = []
  let (letter, sidebar) = (Document("A letter"), Panel())
  KeyValueFault.withHandler { fault in
    codes.append(fault.code)
    return .ignore
  } in: {
    misuse()
    letter.removeObserver(sidebar, forKeyPath: "pages")
    letter.addObserver(sidebar, forKeyPath: "pages..")
  }
  check(codes == [1, 2, 10])
  letter.addObserver(sidebar, forKeyPath: "pages")
  letter.pages = 2
  check(sidebar.calls == 1)
  letter.removeObserver(sidebar, forKeyPath: "pages")
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
    .init("K87", "", variation: "a handler of the process; other faults", handlerGoesOn),
    .init("K88", "2", variation: "under KVO_POLICY=log both are told", flags: .alone, handlerFaults),
    .init("K89", impossible: "handlers cannot throw, and Swift has no longjmp"),
    .init(
      "K90",
      impossible:
        "Swift itself ends the process when memory lacks, and its code may not run in a signal handler: see K90c"),
    .init(
      "K91", "1", variation: "more threads: one of them ends the process", flags: [.alone, .orMore], twoFaultAtOnce),
    .init(
      "K91.2", "1*8", variation: "other faults: each report is in one piece", environment: "KVO_POLICY=log",
      ending: KVO_CRASH_ENDS_WELL, eightFaultAtOnce),
    .init(
      "K92", "34 1", variation: "other variables: KVO_STACKS=many", environment: "KVO_POLICY=foo", contains: "foo",
      flags: .golden, misuse),
    .init("K93", "1", variation: "a pipe that nobody reads", flags: [.alone, .unreadable], standardErrorIsClosed),
    .init(
      "K93.2", "1", variation: "all codes", environment: "KVO_REPORT=json", contains: "{\"schema\":1,", misuse),
    .init(
      "K93.3", "1", variation: "a file, with %p in its name",
      environment: "KVO_REPORT=json KVO_REPORT_PATH=/dev/fd/2", contains: "{\"schema\":1,", misuse),
    .init(
      "K94", "1", variation: "scripts/check-crashes.sh strips the program", environment: "KVO_STACKS=8", misuse),
    .init(
      "K95", "1", variation: "other types", environment: "KVO_HISTORY=16", lacks: "hush|Bert", valuesArePrivate),
    .init(
      "K95.2", "1", variation: "long values, control characters", environment: "KVO_HISTORY=16 KVO_VALUES=1",
      contains: "hush|Bert", valuesArePrivate),
    observerDiedUnderASan,
    .init(
      "K97", "1", variation: "as JSON in a file", environment: "SWIFT_BACKTRACE=enable=yes,color=no",
      contains: "was deallocated|*** Program crashed", misuse),
  ]
}
