// Tables for people, with columns as wide as their widest cell, and JSON for programs.
import Foundation

enum Columns {
  static func json(_ value: some Encodable, _ more: JSONEncoder.OutputFormatting = []) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = more.union([.sortedKeys, .withoutEscapingSlashes])
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  /// Returns the lines of a table, the last column of any width. Columns of numbers are aligned to the right.
  static func lines(_ heads: [String], _ rows: [[String]], numbers: Set<Int>) -> [String] {
    let all = [heads] + rows.map { $0.map(clean) }
    let widths = heads.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
    return all.map { row in
      row.indices.map { column in
        let space = String(repeating: " ", count: widths[column] - row[column].count)
        if numbers.contains(column) { return space + row[column] }
        return column == row.count - 1 ? row[column] : row[column] + space
      }.joined(separator: "  ")
    }
  }

  static func text(_ heads: [String], _ rows: [[String]], numbers: Set<Int>) -> String {
    lines(heads, rows, numbers: numbers).joined(separator: "\n")
  }

  /// A text of the program without control characters, which could control the terminal.
  static func clean(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return text }
    return text.unicodeScalars.reduce(into: "") { clean, scalar in
      if scalar.properties.generalCategory == .control {
        clean += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        clean.unicodeScalars.append(scalar)
      }
    }
  }

  /// A duration with about three digits.
  static func duration(nanoseconds: Double) -> String {
    switch nanoseconds {
    case ..<1000: short(nanoseconds) + " ns"
    case ..<1_000_000: short(nanoseconds / 1000) + " µs"
    case ..<1_000_000_000: short(nanoseconds / 1_000_000) + " ms"
    default: short(nanoseconds / 1_000_000_000) + " s"
    }
  }

  /// A number with one decimal if it is less than 10 and not whole.
  static func short(_ number: Double) -> String {
    let tenths = (number * 10).rounded()
    if tenths >= 100 || tenths.truncatingRemainder(dividingBy: 10) == 0 {
      return String(format: "%.0f", number.rounded())
    }
    return "\(Int(tenths) / 10).\(Int(tenths) % 10)"
  }
}
