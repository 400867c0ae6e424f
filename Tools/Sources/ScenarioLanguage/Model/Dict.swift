// The observable dictionary with a name, which reports its deallocation.
import KeyValueObserving

final class Dict: KeyValueDictionary, ScenarioObject {
  let scenarioName: String
  private let transcript: Transcript

  init(_ name: String, _ transcript: Transcript) {
    scenarioName = name
    self.transcript = transcript
    super.init([:])
  }

  deinit { transcript.line("D @\(scenarioName)") }

  static var kind: String { "Dict" }

  func set(_ key: String, to value: Any?) throws { self[key] = value }
  func letGo() { for key in keys { removeValue(forKey: key) } }
  func setRaw(_ key: String, to value: Any?) throws {
    throw ScriptError("the storage of a Dict cannot be reached without notification")
  }
}

extension Dict: Hashable {
  static func == (left: Dict, right: Dict) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
