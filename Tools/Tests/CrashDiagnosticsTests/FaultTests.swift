// What ends a process and what does not, by the policy and by the kind of use. scripts/crashes.py checks the reports of faults.
import Foundation
import KeyValueObserving
import Testing

@KeyValueObservable
private final class Account {
  var balance = 0
}

@KeyValueObservable
private final class Ledger {
  var entries = [1, 2, 3]
}

private final class Panel: KeyValueObserver {
  func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {}
}

@Suite("Faults end the process with a report")
struct FaultTests {
  @Test func `With KVO_POLICY=log the process continues, with memory intact`() async throws {
    let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
      setenv("KVO_POLICY", "log", 1)
      let panel = Panel()
      for _ in 0..<10 {
        let account = Account()
        account.addObserver(panel, forKeyPath: "balance")
        account.removeObserver(panel, forKeyPath: "owner")
        account.balance = 1
      }
      exit(0)
    }
    let faults = String(decoding: result.standardErrorContent, as: UTF8.self).split(separator: "\n")
    #expect(faults.filter { $0.hasPrefix("KVO0001") }.count == 10)
    #expect(faults.filter { $0.hasPrefix("KVO0002") }.count == 10)
  }

  @Test func `Changing an array during its change in place ends the process, as in a plain class`() async {
    await #expect(processExitsWith: .failure) {
      let ledger = Ledger()
      ledger.entries.withUnsafeMutableBufferPointer { entries in
        ledger.entries = []
        entries[0] = 99
      }
    }
  }
}
