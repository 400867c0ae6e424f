// Addition of decimals. While the values fit, they are added as integer multiples of a power of ten, which is much faster than
// `Decimal`.

import Foundation

/// A decimal number: an integer multiple of a power of ten.
struct DecimalUnits {
  let count: Int
  let exponent: Int

  init(count: Int, exponent: Int) {
    self.count = count
    self.exponent = exponent
  }

  /// Creates the decimal with the shortest notation of a number; `nil` if that has more than four decimals or fifteen digits.
  init?(_ number: Double) {
    var power = 1.0
    for digits in 0...4 {
      let count = (number * power).rounded()
      // Different decimals of up to fifteen digits are different numbers, so a decimal that is equal is the shortest notation.
      guard abs(count) < 1e15 else { return nil }
      if count / power == number {
        self.init(count: Int(count), exponent: -digits)
        return
      }
      power *= 10
    }
    return nil
  }
}

/// A sum of numbers, exact as far as decimals are.
struct DecimalSum {
  private var count: Int128 = 0
  private var exponent = 0
  /// The sum of the numbers that did not fit.
  private var rest = Decimal(0)

  /// Adds a number. Returns whether a decimal can represent it.
  mutating func add(_ number: CodedNumber) -> Bool {
    if let units = number.units, add(units) { return true }
    guard let decimal = number.decimal else { return false }
    rest += decimal
    return true
  }

  private mutating func add(_ units: DecimalUnits) -> Bool {
    let common = min(exponent, units.exponent)
    guard let own = Self.scaled(count, by: exponent - common),
      let other = Self.scaled(Int128(units.count), by: units.exponent - common)
    else { return false }
    let (sum, overflows) = own.addingReportingOverflow(other)
    if overflows { return false }
    (count, exponent) = (sum, common)
    return true
  }

  /// Returns the product with a power of ten, or `nil` on overflow.
  private static func scaled(_ count: Int128, by power: Int) -> Int128? {
    if power == 0 || count == 0 { return count }
    guard power < powers.count else { return nil }
    let (product, overflows) = count.multipliedReportingOverflow(by: powers[power])
    return overflows ? nil : product
  }

  private static let powers: [Int128] = (0..<38).map { (0..<$0).reduce(1) { power, _ in power * 10 } }

  var value: Decimal {
    let magnitude = count.magnitude
    let high =
      Decimal(UInt64(truncatingIfNeeded: magnitude >> 64))
      * Decimal(sign: .plus, exponent: 0, significand: Self.twoTo64)
    let whole = high + Decimal(UInt64(truncatingIfNeeded: magnitude))
    return Decimal(sign: count < 0 ? .minus : .plus, exponent: exponent, significand: whole) + rest
  }

  private static let twoTo64 = Decimal(UInt64.max) + 1
}
