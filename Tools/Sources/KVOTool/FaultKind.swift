// The faults of the runtime, from its own table.
import CKVO
import Foundation

package struct FaultKind: Encodable {
  /// The code as in reports and in KVO_POLICY, such as `KVO0003`.
  package var code: String { Self.code(number) }
  /// The number in the code.
  package let number: Int
  /// `fatal`, `error`, `warning` or `info`.
  package let severity: String
  /// The one-line meaning.
  package let meaning: String
  /// The exception that Apple raises, if there is one.
  package let exception: String?

  /// All faults, in the order of their codes.
  package static let all: [FaultKind] = {
    var kinds: [FaultKind] = []
    while let kind = kvo_fault_kind_at(kinds.count) { kinds.append(FaultKind(kind.pointee)) }
    return kinds
  }()

  /// Returns the code for a number.
  package static func code(_ number: Int) -> String { String(format: "KVO%04d", number) }

  private init(_ kind: kvo_fault_kind) {
    number = Int(kind.code.rawValue)
    severity = String(cString: kvo_severity_name(kind.severity))
    meaning = String(cString: kind.meaning)
    exception = kind.exception.map { String(cString: $0) }
  }

  private enum CodingKeys: CodingKey {
    case code, severity, meaning, exception
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(code, forKey: .code)
    try container.encode(severity, forKey: .severity)
    try container.encode(meaning, forKey: .meaning)
    try container.encode(exception, forKey: .exception)  // null if there is none, as in a report
  }
}
