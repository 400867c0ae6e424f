// The details of a fault that a handler receives: source locations, calls, observations; and the same in both report formats.
import CKVO
import Foundation
import KeyValueObserving
import Testing

@KeyValueObservable
private final class Kettle {
  var heat = 0
}

private final class Gauge: KeyValueObserver {
  func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {}
}

private func fault(_ body: () -> Void) throws -> KeyValueFault {
  var raised: [KeyValueFault] = []
  KeyValueFault.withHandler {
    raised.append($0)
    return .ignore
  } in: {
    body()
  }
  return try #require(raised.first)
}

@inline(never)
private func unplugKettle() {
  let (kettle, gauge) = (Kettle(), Gauge())
  kettle.addObserver(gauge, forKeyPath: "heat")
  kettle.removeObserver(gauge, forKeyPath: "heet")
  kettle.removeObserver(gauge, forKeyPath: "heat")
}

/// Returns a fault about an observation with all details known; its strings are never freed.
private func faultOfObservation() throws -> KeyValueFault {
  let frame = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(capacity: 1)
  frame.initialize(to: UnsafeMutableRawPointer(bitPattern: 0x1234))
  let observation = kvo_fault_observation(
    observation: 0x21, key_path: strdup("heat"), options: KVO_NEW, observer_class: strdup("Gauge"), observer: nil,
    context: nil, note: strdup("on queue cooking"), file: strdup("Kitchen/Gauge.swift and more"), file_length: 19,
    line: 41, callback: nil,
    object: UnsafeRawPointer(bitPattern: 0x1e0), object_class: strdup("Kettle"), frames: UnsafePointer(frame),
    frame_count: 1, duplicate_count: 0)
  return try fault {
    withUnsafePointer(to: observation) {
      kvo_fault_raise(KVO_FAULT_NEVER_NOTIFIES, "nothing", nil, nil, $0, 1, "Kitchen/Main.swift", 7)
    }
  }
}

@Suite("The details of a fault")
struct EvidenceTests {
  @Test func `The stack names the program's function as in Swift source`() throws {
    let delivered = try fault(unplugKettle)
    let calls = delivered.stack.calls
    #expect(calls.count == delivered.stack.returnAddresses.count)
    let own = try #require(calls.first { $0.contains("unplugKettle") })
    #expect(own.hasPrefix("CrashDiagnosticsTests.unplugKettle()  "))
    #expect(own.contains("+0x"))
    #expect(delivered.thread > 0)
  }

  @Test func `In the report the stack begins with the program's own call, without the library's`() throws {
    let lines = try fault(unplugKettle).report.split(separator: "\n")
    let fault = try #require(
      lines.firstIndex { $0.hasPrefix("  fault at CrashDiagnosticsTests/EvidenceTests.swift:") })
    #expect(lines[fault + 1].hasPrefix("      #0 ") && lines[fault + 1].contains("unplugKettle"))
    #expect(!lines.contains { $0.hasPrefix("      #") && $0.contains("KeyValueObserving.") })
    #expect(lines.contains { $0.hasPrefix("  modules: ") })
  }

  @Test func `Names have no types, whatever encloses the function`() throws {
    func inner<Value>(_ value: Value, at place: [Int: String]) throws -> [String] {
      try fault { kvo_remove_observer(0x7) }.stack.calls
    }
    let calls = try inner(1, at: [:])
    #expect(
      calls.contains { $0.hasPrefix("closure in inner #1 in CrashDiagnosticsTests.EvidenceTests.") }, "\(calls)")
    #expect(!calls.contains { $0.contains(" -> ") && $0.contains("CrashDiagnosticsTests") })
  }

  @Test func `JSON has the same stack, with offset and build ID`() throws {
    let delivered = try fault(unplugKettle)
    let json = try #require(JSONSerialization.jsonObject(with: Data(delivered.json.utf8)) as? [String: Any])
    let stack = try #require(json["stack"] as? [[String: Any]])
    #expect(stack.count == delivered.stack.returnAddresses.count)
    let own = try #require(stack.first { ($0["symbol"] as? String)?.contains("unplugKettle") == true })
    #expect((own["offset"] as? String)?.hasPrefix("0x") == true)
    #expect((own["buildId"] as? String)?.count == 40)
    #expect(own["module"] as? String != "")
  }

  @Test func `A fault in a callback has the deliveries that led to it`() throws {
    let kettle = Kettle()
    nonisolated(unsafe) let other = Kettle()
    let outer = kettle.observe(\.heat) { _, _ in other.heat += 1 }
    let inner = other.observe(\.heat) { _, _ in unplugKettle() }
    defer { withExtendedLifetime((outer, inner)) {} }
    let delivered = try fault { kettle.heat = 1 }
    #expect(delivered.chain.count == 2)
    #expect(delivered.chain.map(\.repeats) == [0, 0])
    #expect(delivered.chain.allSatisfy { $0.observation.file == "CrashDiagnosticsTests/EvidenceTests.swift" })
    #expect(delivered.chain[0].observation.line + 1 == delivered.chain[1].observation.line)
  }

  @Test func `An observation has its object, its source location and its call stack`() throws {
    let delivered = try faultOfObservation()
    #expect(delivered.file == "Kitchen/Main.swift" && delivered.line == 7)
    let observation = try #require(delivered.observations.first)
    #expect(observation.keyPath == "heat" && observation.observerClass == "Gauge")
    #expect(observation.objectClass == "Kettle" && observation.note == "on queue cooking")
    #expect(observation.file == "Kitchen/Gauge.swift" && observation.line == 41)
    #expect(observation.stack.returnAddresses == [0x1234] && observation.stack.calls == ["0x1234"])
  }
}
