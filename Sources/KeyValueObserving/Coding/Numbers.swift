// Numbers of any type: lossless conversion, and their form in C.

import CKVO
import Foundation

/// A number of any type, or a numeric string.
enum CodedNumber {
  case integer(any BinaryInteger)
  case floating(any BinaryFloatingPoint)
  case decimal(Decimal)
  case numeral(NumberText)

  /// Creates a number, or `nil` for a value that is neither a number nor exactly a numeric string; a `Bool` is 0 or 1.
  init?(_ value: Any) {
    switch value {
    // The most frequent types first.
    case let integer as Int: self = .integer(integer)
    case let floating as Double: self = .floating(floating)
    case let bool as Bool: self = .integer(bool ? 1 : 0)
    case let floating as CGFloat: self = .floating(floating.native)
    case let integer as any BinaryInteger: self = .integer(integer)
    case let floating as any BinaryFloatingPoint: self = .floating(floating)
    case let decimal as Decimal: self = .decimal(decimal)
    case let number as NSDecimalNumber: self = .decimal(number.decimalValue)
    case let number as NSNumber:
      switch String(cString: number.objCType) {
      case "d": self = .floating(number.doubleValue)
      case "f": self = .floating(number.floatValue)
      case "Q", "L": self = .integer(number.uint64Value)
      default: self = .integer(number.int64Value)
      }
    case let string as String:
      guard let numeral = NumberText(string) else { return nil }
      self = .numeral(numeral)
    default: return nil
    }
  }

  /// The decimal notation; `nil` for infinity and NaN.
  var text: NumberText? {
    switch self {
    case .integer(let value): NumberText("\(value)")
    case .floating(let value): NumberText("\(value)")
    case .decimal(let value): NumberText("\(value)")
    case .numeral(let text): text
    }
  }

  /// The `Decimal` with the same notation; `nil` if its precision or range is insufficient.
  var decimal: Decimal? {
    if case .decimal(let value) = self { return value }
    return text.flatMap { Decimal(exactly: $0) }
  }
}

/// A normalized decimal numeral: `"5"`, `"5.0"` and `"0.5e1"` are equal.
struct NumberText: Equatable {
  private let isNegative: Bool
  /// The digits without leading and trailing zeros; empty for zero.
  private let digits: String
  /// The exponent of the last digit.
  private let exponent: Int

  /// Parses a text; `nil` if it is not a numeral.
  init?(_ text: String) {
    var text = text
    guard let made = text.withUTF8({ NumberText(scanning: $0) }) else { return nil }
    self = made
  }

  /// Parses a sign, digits, a point with digits, and an exponent of at most six digits. Each is optional, but there must be a
  /// digit.
  private init?(scanning text: UnsafeBufferPointer<UInt8>) {
    var rest = text[...]
    func takeSign() -> Bool {
      guard let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") else { return false }
      rest.removeFirst()
      return sign == UInt8(ascii: "-")
    }
    func takeDigits() -> Slice<UnsafeBufferPointer<UInt8>> {
      let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      rest = rest[digits.endIndex...]
      return digits
    }
    let isNegative = takeSign()
    let whole = takeDigits()
    var fraction = rest[..<rest.startIndex]
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      fraction = takeDigits()
      if fraction.isEmpty { return nil }
    }
    if whole.isEmpty && fraction.isEmpty { return nil }
    var exponent = 0
    if let mark = rest.first, mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") {
      rest.removeFirst()
      let isNegative = takeSign()
      let digits = takeDigits()
      guard (1...6).contains(digits.count) else { return nil }
      for digit in digits { exponent = exponent * 10 + Int(digit - UInt8(ascii: "0")) }
      if isNegative { exponent = -exponent }
    }
    guard rest.isEmpty else { return nil }
    var all = String(decoding: whole, as: UTF8.self)
    if !fraction.isEmpty { all += String(decoding: fraction, as: UTF8.self) }
    let significant = all.utf8.drop { $0 == UInt8(ascii: "0") }
    let zeros = significant.reversed().prefix { $0 == UInt8(ascii: "0") }.count
    digits = String(Substring(significant.dropLast(zeros)))
    self.exponent = digits.isEmpty ? 0 : exponent - fraction.count + zeros
    self.isNegative = isNegative && !digits.isEmpty
  }

  private var sign: String { isNegative ? "-" : "" }
  /// The notation with an exponent, for functions that parse it.
  var scientific: String { digits.isEmpty ? "0" : "\(sign)\(digits)e\(exponent)" }
  /// The notation without fraction and exponent; `nil` for a number with a fraction or with more digits than any integer type.
  var integer: String? {
    guard (0...100).contains(exponent) else { return nil }
    return digits.isEmpty ? "0" : sign + digits + String(repeating: "0", count: exponent)
  }
}

extension Decimal {
  init?(exactly text: NumberText) {
    guard let made = Decimal(string: text.scientific), NumberText("\(made)") == text else { return nil }
    self = made
  }
}

/// Returns whether a type has an exact conversion from numbers.
func isNumberType(_ type: Any.Type) -> Bool {
  type is any FixedWidthInteger.Type || type is any BinaryFloatingPoint.Type || type == Bool.self
    || type == Decimal.self || type == NSNumber.self
}

/// Converts a number, or a numeric string, to a numeric type.
///
/// Between binary floating-point types, and between these and decimals, numbers are equal if their decimal notation is: the
/// `Double` 0.1 is converted to the `Float` 0.1, although its bits are more precise, but 0.1 + 0.2 is not converted to 0.3.
func numberConverted<Value>(_ value: Any, to type: Value.Type) throws(ConversionFailure) -> Value {
  if type == Bool.self, let bool = (value as? String).flatMap({ truths[$0] }) { return bool as! Value }
  guard let number = CodedNumber(value) else {
    let reason = value is String ? "the text is not exactly a number" : nil
    throw ConversionFailure(given: value, expected: type, reason: reason)
  }
  guard let made = number.exactly(as: type) as? Value else {
    throw ConversionFailure(given: value, expected: type, reason: "the number cannot be held exactly")
  }
  return made
}

private let truths = ["true": true, "false": false, "YES": true, "NO": false]

extension CodedNumber {
  fileprivate func exactly(as type: Any.Type) -> Any? {
    switch type {
    case is Bool.Type:
      switch text?.integer {
      case "0": return false
      case "1": return true
      default: return nil
      }
    case let integer as any FixedWidthInteger.Type: return self.integer(integer)
    // The generic initializers of `CGFloat` end the process on Linux.
    case is CGFloat.Type: return (floating(CGFloat.NativeType.self) as? CGFloat.NativeType).map { CGFloat($0) }
    case let floating as any BinaryFloatingPoint.Type: return self.floating(floating)
    case is NSNumber.Type: return boxed
    default: return decimal
    }
  }

  /// The number in an object, which holds integers of 64 bits, a `Double` or a `Decimal`.
  private var boxed: NSNumber? {
    if case .floating = self {
    } else {
      if let value = integer(Int64.self) as? Int64 { return NSNumber(value: value) }
      if let value = integer(UInt64.self) as? UInt64 { return NSNumber(value: value) }
    }
    if case .decimal(let value) = self { return NSDecimalNumber(decimal: value) }
    if let value = floating(Double.self) as? Double { return NSNumber(value: value) }
    return decimal.map { NSDecimalNumber(decimal: $0) }
  }

  private func integer<Integer: FixedWidthInteger>(_: Integer.Type) -> Any? {
    switch self {
    case .integer(let value): return Integer(exactly: value)
    case .floating(let value): return Integer(exactly: value)
    case .decimal, .numeral: return text?.integer.flatMap { Integer($0) }
    }
  }

  private func floating<Floating: BinaryFloatingPoint>(_: Floating.Type) -> Any? {
    switch self {
    case .integer(let value):
      if let exact = Floating(exactly: value) { return exact }
    case .floating(let value):
      if value.isNaN { return Floating.nan }
      if let exact = Floating(exactly: value) { return exact }
    case .decimal, .numeral: break
    }
    guard let text, let double = Double(text.scientific) else { return nil }
    // Only one rounding, if the type parses strings itself.
    let made = (Floating.self as? any LosslessStringConvertible.Type)?.init(text.scientific) as? Floating
    let nearest = made ?? Floating(double)
    return NumberText("\(nearest)") == text ? nearest : nil
  }
}

// MARK: - Numbers of C

/// Calls `body` with a number, or if `texts` with a text, as C reads it; not for any other value.
func withCNumber(_ value: UnsafePointer<Any>, texts: Bool, _ body: (UnsafePointer<kvo_value>) -> Void) {
  func pass(_ bytes: UnsafeRawPointer, _ size: Int, _ encoding: StaticString) {
    let type = UnsafeRawPointer(encoding.utf8Start).assumingMemoryBound(to: CChar.self)
    withUnsafePointer(to: kvo_value(type: type, size: size, bytes: bytes), body)
  }
  func pass<Number>(_ number: Number, _ encoding: StaticString) {
    withUnsafePointer(to: number) { pass(UnsafeRawPointer($0), MemoryLayout<Number>.size, encoding) }
  }
  func pass(_ text: String) { text.withCString { pass($0, "*") } }
  func pass(_ decimal: Decimal) {
    if decimal.isNaN { pass(Double.nan, "d") } else { pass("\(decimal)") }
  }
  // An existential begins with its value if that has at most three words, and then has its type: that of the value in it, which may be
  // another existential.
  let type = (UnsafeRawPointer(value) + 3 * MemoryLayout<UnsafeRawPointer>.size).load(as: ObjectIdentifier.self)
  if type == ObjectIdentifier(Int.self) {
    return pass(value, MemoryLayout<Int>.size, MemoryLayout<Int>.size == 8 ? "q" : "i")
  }
  if type == ObjectIdentifier(Double.self) { return pass(value, MemoryLayout<Double>.size, "d") }
  if type == ObjectIdentifier(Decimal.self) { return pass(UnsafeRawPointer(value).load(as: Decimal.self)) }
  if let string = value.pointee as? String {
    if texts, !string.utf8.contains(0) { pass(string) }
    return
  }
  switch CodedNumber(value.pointee) {
  case .integer(let number)?:
    if let small = Int64(exactly: number) { return pass(small, "q") }
    if let small = UInt64(exactly: number) { pass(small, "Q") } else { pass("\(number)") }
  case .floating(let number)?:
    if let number = number as? Float { return pass(number, "f") }
    if !number.isFinite || number is Double { pass(Double(number), "d") } else { pass("\(number)") }
  case .decimal(let number)?: pass(number)
  case .numeral?, nil: break
  }
}
