// The text of faults in answers.
import Foundation
import KeyValueObserving

/// Returns Apple's exception and message or, if Apple has none, our code and summary, in one line: a line break and the spaces
/// around it become one space. The summary has no code and severity, because the run decides on the severity. Addresses become
/// `0xPTR`, because they differ from run to run, and the source location in the runner is omitted.
func describe(_ fault: KeyValueFault) -> String {
  let name = fault.exceptionName ?? String(format: "KVO%04d", fault.code)
  let text =
    fault.appleSentence
    ?? String(fault.summary.trimmingPrefix(#/KVO\d+ \w+: /#)).replacing(#/, at [^ ]+:[0-9]+$/#, with: "")
  let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingPrefix { $0 == " " } }
  return "X \(name) \(lines.joined(separator: " ").replacing(/0x[0-9a-fA-F]+/, with: "0xPTR"))"
}
