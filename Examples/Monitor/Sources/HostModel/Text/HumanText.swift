// Human-readable numbers and names.
import Foundation

package func decimal(_ number: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", number) }

package func percent(_ fraction: Double) -> String { padded(decimal(fraction * 100, 1), 5) + " %" }

package func size(_ bytes: Int64) -> String {
  let units = ["KiB", "MiB", "GiB", "TiB"]
  var amount = Double(bytes) / 1024
  var unit = 0
  while amount >= 1024, unit < units.count - 1 {
    amount /= 1024
    unit += 1
  }
  return "\(decimal(amount, 1)) \(units[unit])"
}

package func duration(_ seconds: Double) -> String {
  let minutes = Int(exactly: (seconds / 60).rounded(.down)) ?? 0
  let (days, hours) = (minutes / 1440, minutes / 60 % 24)
  let clock = "\(hours) h \(minutes % 60) min"
  return days > 0 ? "\(days) d \(clock)" : clock
}

/// Pads a text on the left.
package func padded(_ text: String, _ width: Int) -> String {
  String(repeating: " ", count: max(0, width - text.count)) + text
}

extension String {
  /// Pads a text on the right.
  package func padding(_ width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}

/// Escapes the characters of a process name that would move the cursor or break the line, because a process chooses its own name.
package func printable(_ name: String) -> String {
  var text = ""
  for scalar in name.unicodeScalars {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator:
      text += "\\u{" + String(scalar.value, radix: 16) + "}"
    default: text.unicodeScalars.append(scalar)
    }
  }
  return text
}
