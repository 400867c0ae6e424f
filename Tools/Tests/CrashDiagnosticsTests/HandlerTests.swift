// Faults in the test process, with a handler that ignores them: what it receives, and that memory stays intact.
import Foundation
import KeyValueObserving
import Synchronization
import Testing

@KeyValueObservable
private final class Meter {
  var value = 0
  var next: Meter?
}

private final class Reader: KeyValueObserver {
  private(set) var count = 0
  func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) { count += 1 }
}

/// Returns the faults that a body raises.
private func faults(_ body: () -> Void) -> [String] {
  var codes: [String] = []
  KeyValueFault.withHandler {
    codes.append(String($0.summary.prefix(7)))
    return .ignore
  } in: {
    body()
  }
  return codes
}

/// Raises faults on a thread with a small stack, which would overflow if each fault used more of it.
private enum Endurance {
  private static let heard = Atomic<Int>(0)

  static func run() {
    KeyValueFault.setHandler { _ in
      heard.add(1, ordering: .relaxed)
      return .ignore
    }
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
      let (meter, reader) = (Meter(), Reader())
      for _ in 0..<10_000 { meter.removeObserver(reader, forKeyPath: "value") }
      done.signal()
    }
    thread.stackSize = 512 << 10
    thread.start()
    done.wait()
    precondition(heard.load(ordering: .relaxed) == 10_000)
  }
}

@Suite("Faults with a handler")
struct HandlerTests {
  @Test func `A handler of the process stays set through ten thousand faults, on half a megabyte of stack`()
    async
  {
    await #expect(processExitsWith: .success) { Endurance.run() }
  }

  @Test func `After a deallocation while observed the observer is not notified again, and may observe again`() {
    let reader = Reader()
    let raised = faults {
      var meter: Meter? = Meter()
      meter?.addObserver(reader, forKeyPath: "value")
      meter = nil
    }
    #expect(raised == ["KVO0001"])
    let meter = Meter()
    meter.addObserver(reader, forKeyPath: "value")
    meter.value = 1
    #expect(reader.count == 1)
    meter.removeObserver(reader, forKeyPath: "value")
  }

  @Test func `A value requested for an undefined key is reported at the change`() {
    let (meter, reader) = (Meter(), Reader())
    let raised = faults {
      meter.addObserver(reader, forKeyPath: "nothing", options: [.new])
      meter.willChangeValue(forKey: "nothing")
      meter.didChangeValue(forKey: "nothing")
      meter.removeObserver(reader, forKeyPath: "nothing")
    }
    #expect(raised == ["KVO0011", "KVO0009"])
    #expect(reader.count == 1)
  }

  @Test func `A report is also available as JSON, with the same contents`() throws {
    let (meter, reader) = (Meter(), Reader())
    var reports: [KeyValueFault] = []
    KeyValueFault.withHandler {
      reports.append($0)
      return .ignore
    } in: {
      meter.addObserver(reader, forKeyPath: "value", options: [.new], fileID: "Some \"file\"", line: 7)
      meter.removeObserver(reader, forKeyPath: "välue", fileID: "Other", line: 8)
      meter.removeObserver(reader, forKeyPath: "value")
    }
    let fault = try #require(reports.first)
    #expect(fault.severity == .fatal && fault.report.hasPrefix(fault.summary))
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(fault.json.utf8)) as? [String: Any])
    #expect(json["code"] as? String == "KVO0002" && json["summary"] as? String == fault.summary)
    #expect(json["help"] as? String == fault.help && json["exception"] as? String == "NSRangeException")
    #expect((json["faultAt"] as? [String: Any])?["line"] as? Int == 8)
    let observations = try #require(json["observations"] as? [[String: Any]])
    #expect(observations.count == 1 && observations[0]["keyPath"] as? String == "value")
    #expect((observations[0]["registeredAt"] as? [String: Any])?["file"] as? String == "Some \"file\"")
  }

  @Test func `A task's handler applies to the task and its children only, and after the thread's`() async {
    let codes = Codes()
    @Sendable func misuse() { Meter().removeObserver(Reader(), forKeyPath: "value") }
    await KeyValueFault.withTaskHandler { fault in
      codes.add("task \(fault.code)")
      return .ignore
    } in: {
      misuse()
      await Task.yield()
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<2 { group.addTask { misuse() } }
      }
      KeyValueFault.withHandler { _ in
        codes.add("thread")
        return .ignore
      } in: {
        misuse()
      }
      await KeyValueFault.withTaskHandler { _ in
        codes.add("inner")
        return .ignore
      } in: {
        misuse()
      }
    }
    #expect(codes.all == ["task 2", "task 2", "task 2", "thread", "inner"])
  }
}

private final class Codes: Sendable {
  private let codes = Mutex<[String]>([])
  var all: [String] { codes.withLock { $0 } }
  func add(_ code: String) { codes.withLock { $0.append(code) } }
}
