// Misuse with the default policy: the process ends with SIGABRT, and the report names the misuse, the objects and the source
// locations.
import CKVO
import Foundation
import KeyValueObserving
import Testing

@KeyValueObservable
private final class Account {
  var balance = 0
  var owner: Owner?
}

@KeyValueObservable
private final class Owner {
  var name = ""
}

@KeyValueObservable
private final class Ledger {
  var entries = [1, 2, 3]
}

/// An observer whose hierarchy handles no change.
private class Sidebar: KeyValueObject {}

private final class Panel: KeyValueObserver {
  func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {}
}

/// The misuse in the exit tests, in separate functions, because code within a macro's argument has other line numbers.
private enum Misuse {
  static func dieWhileObserved() {
    let panel = Panel()
    do {
      let account = Account()
      account.addObserver(panel, forKeyPath: "balance", options: [.new])  // balance observed
      account.addObserver(panel, forKeyPath: "owner.name")  // name observed
      account.addObserver(panel, forKeyPath: "owner")  // owner observed
      account.removeObserver(panel, forKeyPath: "owner")
    }
    withExtendedLifetime(panel) {}
  }

  static func removeUnregistered() {
    let (account, panel) = (Account(), Panel())
    account.addObserver(panel, forKeyPath: "balance")  // unregistered observed
    account.removeObserver(panel, forKeyPath: "balanse")  // unregistered removed
  }

  static func removeTwice() {
    let (account, panel) = (Account(), Panel())
    account.addObserver(panel, forKeyPath: "balance")  // first observed
    account.removeObserver(panel, forKeyPath: "balance")  // first removed
    account.removeObserver(panel, forKeyPath: "balance")  // removed again
  }

  static func handleNothing() {
    let (account, sidebar) = (Account(), Sidebar())
    account.addObserver(sidebar, forKeyPath: "balance", options: [.new], context: nil)  // sidebar observed
    account.balance = 1
  }

  static func loseObserver() {
    let account = Account()
    do { account.addObserver(Panel(), forKeyPath: "balance") }  // panel observed
    account.balance = 1
  }

  static func misspell() {
    Account().addObserver(Panel(), forKeyPath: "ovner.name")  // misspelt
  }
}

/// Returns the line of this file that ends with a comment.
private func line(_ comment: String, file: StaticString = #filePath) -> Int {
  let source = (try? String(contentsOfFile: file.description, encoding: .utf8)) ?? ""
  let index = source.split(separator: "\n", omittingEmptySubsequences: false).firstIndex {
    $0.hasSuffix("// \(comment)")
  }
  return (index ?? -2) + 1
}

private func lines(_ result: ExitTest.Result) -> [String] {
  String(decoding: result.standardErrorContent, as: UTF8.self).split(separator: "\n").map(String.init)
}

@Suite("Faults end the process with a report")
struct FaultTests {
  @Test func `KVO0001, an object deallocated while observed: names every observation's source location`() async throws {
    let result = try await #require(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
      Misuse.dieWhileObserved()
    }
    let report = lines(result)
    let first = try #require(report.first)
    #expect(first.hasPrefix("KVO0001 fatal: Account@0x"))
    #expect(first.contains(#"2 observations were registered (key paths: "balance", "owner.name"), registered at "#))
    let text = report.joined(separator: "\n")
    #expect(text.contains("was deallocated while key value observers were still registered with it."))
    #expect(text.contains("registered at CrashDiagnosticsTests/FaultTests.swift:\(line("balance observed"))"))
    #expect(text.contains("registered at CrashDiagnosticsTests/FaultTests.swift:\(line("name observed"))"))
    #expect(!text.contains("FaultTests.swift:\(line("owner observed"))"))
    #expect(text.contains("observer Panel@0x"))
  }

  @Test func `KVO0002, a removal without a registration: names the removal's source location and the registrations`()
    async throws
  {
    let result = try await #require(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
      Misuse.removeUnregistered()
    }
    let report = lines(result)
    #expect(try #require(report.first).hasPrefix("KVO0002 fatal: cannot remove Panel@0x"))
    let text = report.joined(separator: "\n")
    #expect(text.contains("Cannot remove an observer <Panel 0x"))
    #expect(text.contains("because it is not registered as an observer."))
    #expect(text.contains("fault at CrashDiagnosticsTests/FaultTests.swift:\(line("unregistered removed"))"))
    #expect(text.contains("registered at CrashDiagnosticsTests/FaultTests.swift:\(line("unregistered observed"))"))
    #expect(text.contains("did you mean \"balance\""))
  }

  @Test func `KVO0003, a second removal: names all three source locations`() async throws {
    let result = try await #require(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
      Misuse.removeTwice()
    }
    let text = lines(result).joined(separator: "\n")
    #expect(text.hasPrefix("KVO0003 fatal: Panel@0x"))
    for place in ["first observed", "first removed", "removed again"] {
      #expect(text.contains("FaultTests.swift:\(line(place))"))
    }
  }

  @Test
  func `KVO0022, a change that no class of the hierarchy handled: names the registration's line`() async throws {
    let result = try await #require(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
      Misuse.handleNothing()
    }
    let report = lines(result)
    #expect(try #require(report.first).hasPrefix(#"KVO0022 fatal: a change of "balance" of Account@0x"#))
    let text = report.joined(separator: "\n")
    #expect(text.contains("message was received but not handled. ...\n"))
    #expect(text.contains("registered at CrashDiagnosticsTests/FaultTests.swift:\(line("sidebar observed"))"))
  }

  @Test func `KVO0004, an observer deallocated without being removed is not called, and is named`() async throws {
    let result = try await #require(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
      Misuse.loseObserver()
    }
    let report = lines(result)
    #expect(try #require(report.first).hasPrefix("KVO0004 fatal: the observer Panel@0x"))
    #expect(report.joined().contains("FaultTests.swift:\(line("panel observed"))"))
  }

  @Test func `KVO0009, an undefined key in a path: lists the keys of the class`() async throws {
    let result = try await #require(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
      Misuse.misspell()
    }
    let text = lines(result).joined(separator: "\n")
    #expect(text.hasPrefix(#"KVO0009 fatal: cannot observe "ovner.name""#))
    #expect(text.contains(#"is not KVC-compliant for the "ovner" property."#))
    #expect(text.contains("the keys of Account are: balance, owner"))
    #expect(text.contains("FaultTests.swift:\(line("misspelt"))"))
  }

  @Test(arguments: ["", ".", "a..b", "owner."])
  func `KVO0010, a malformed key path`(path: String) async throws {
    let result = try await #require(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
      [path] in
      Account().addObserver(Panel(), forKeyPath: path)
    }
    #expect(lines(result).first?.hasPrefix("KVO0010 fatal: cannot observe") == true)
  }

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
    let faults = lines(result).filter { $0.hasPrefix("KVO") }
    #expect(faults.filter { $0.hasPrefix("KVO0001") }.count == 10)
    #expect(faults.filter { $0.hasPrefix("KVO0002") }.count == 10)
  }

  @Test func `KVO_POLICY can set the action of single codes`() async throws {
    let result = try await #require(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
      setenv("KVO_POLICY", "KVO0002:ignore", 1)
      let (account, panel) = (Account(), Panel())
      account.removeObserver(panel, forKeyPath: "owner")
      account.addObserver(panel, forKeyPath: "nothing.at.all")
    }
    #expect(lines(result).first?.hasPrefix("KVO0009") == true)
  }

  @Test func `Changing an array during its change in place ends the process, as in a plain class`()
    async throws
  {
    await #expect(processExitsWith: .failure) {
      let ledger = Ledger()
      ledger.entries.withUnsafeMutableBufferPointer { entries in
        ledger.entries = []
        entries[0] = 99
      }
    }
  }

  @Test func `Tokens never cause a fault`() async throws {
    let result = try await #require(
      processExitsWith: .success, observing: [\.standardErrorContent, \.standardOutputContent]
    ) {
      var tokens: [NSKeyValueObservation] = []
      do {
        let account = Account()
        account.owner = Owner()
        tokens.append(account.observe(\.balance) { _, _ in })
        tokens.append(account.observe(\.owner?.name) { _, _ in })
        tokens.append(account.owner!.observe(\.name) { _, _ in })
        account.owner = nil
      }
      for token in tokens {
        token.invalidate()
        token.invalidate()
      }
      exit(0)
    }
    #expect(!String(decoding: result.standardErrorContent, as: UTF8.self).contains("KVO0"))
  }

  @Test func `Removing in the observer's or the object's deinit is in time`() async throws {
    let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
      SelfObserving().value = 1
      exit(0)
    }
    #expect(!String(decoding: result.standardErrorContent, as: UTF8.self).contains("KVO0"))
  }
}

@KeyValueObservable
private final class SelfObserving: KeyValueObserver {
  var value = 0
  init() { addObserver(self, forKeyPath: "value") }
  deinit { removeObserver(self, forKeyPath: "value") }
  func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {}
}
