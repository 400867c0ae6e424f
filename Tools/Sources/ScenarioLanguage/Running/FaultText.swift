// Faults as the answers of a scenario show them.
import KeyValueObserving

/// Apple's exception and sentence; where Apple has none, our code and summary. In one line: a line break with the spaces around it
/// becomes one space. The summary goes without its code and severity, for it is the run that decides. Each hexadecimal address becomes `0xPTR`, for it differs from run to run, and
/// the place in the source that runs scenarios is left out.
func describe(_ fault: KeyValueFault) -> String {
  let code = String(fault.code)
  let name = fault.exceptionName ?? "KVO" + String(repeating: "0", count: max(0, 4 - code.count)) + code
  let text =
    fault.appleSentence
    ?? String(fault.summary.trimmingPrefix(#/KVO\d+ \w+: /#)).replacing(#/, at [^ ]+:[0-9]+$/#, with: "")
  let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingPrefix { $0 == " " } }
  return "X \(name) \(lines.joined(separator: " ").replacing(/0x[0-9a-fA-F]+/, with: "0xPTR"))"
}
