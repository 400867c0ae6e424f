// An event as one line of JSON. The keys are stable: `event` and `elapsed`, then those of the event.
import Foundation

struct JSONLine: Encodable {
  let elapsed: Double
  let event: Event

  func text() -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    // With that strategy encoding cannot fail for these types.
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }

  private enum Keys: String, CodingKey {
    case event, elapsed, name, seconds, load, old, new, core, fraction, processes, indexes, process, residentBytes
    case path, reason, number
  }

  func encode(to encoder: any Encoder) throws {
    var keys = encoder.container(keyedBy: Keys.self)
    try keys.encode((elapsed * 1000).rounded() / 1000, forKey: .elapsed)
    func name(_ name: String) throws { try keys.encode(name, forKey: .event) }
    switch event {
    case .host(let host):
      try name("host")
      try keys.encode(host, forKey: .name)
    case .uptime(let seconds):
      try name("uptime")
      try keys.encode(seconds, forKey: .seconds)
    case .load(let load):
      try name("load")
      try keys.encode(load, forKey: .load)
    case .memory(let old, let new):
      try name("memory")
      try keys.encode(old, forKey: .old)  // null if unknown
      try keys.encode(new, forKey: .new)
    case .cpu(let core, let old, let new):
      try name("cpu")
      try keys.encode(core, forKey: .core)
      try keys.encode(old, forKey: .old)
      try keys.encode(new, forKey: .new)
    case .busy(let fraction):
      try name("busy")
      try keys.encode(fraction, forKey: .fraction)
    case .insertion(let processes, let indexes):
      try name("insertion")
      try keys.encode(processes, forKey: .processes)
      try keys.encode(indexes, forKey: .indexes)
    case .removal(let processes, let indexes):
      try name("removal")
      try keys.encode(processes, forKey: .processes)
      try keys.encode(indexes, forKey: .indexes)
    case .process(let process, let residentBytes):
      try name("process")
      try keys.encode(process, forKey: .process)
      try keys.encode(residentBytes, forKey: .residentBytes)
    case .gone(let process):
      try name("gone")
      try keys.encode(process, forKey: .process)
    case .ended(let process):
      try name("ended")
      try keys.encode(process, forKey: .process)
    case .unreadable(let problem):
      try name("unreadable")
      try keys.encode(problem.path, forKey: .path)
      try keys.encode(problem.reason, forKey: .reason)
    case .sample(let number):
      try name("sample")
      try keys.encode(number, forKey: .number)
    case .summary(let summary):
      try name("summary")
      try summary.encode(to: encoder)
    }
  }
}
