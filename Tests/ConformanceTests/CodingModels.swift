// The classes that the tests of key-value coding read and set.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  class Coded {
    var int = 1
    var double = 0.5
    var text: String?
    var range = NSRange(location: 1, length: 2)
    var child: Coded?
    var list: [Coded] = []
    var set: Set<Int> = []
    var isOpen = true
    var _hidden = 3
    var any: Any?
    var info: [String: Any] = [:]
    let constant = 7
    var half: Double { double / 2 }
    @NotObserved var plain = 0
    var manual = 0
    /// Found by the rules for `<Key>`: only the first letter changes.
    var isURL = "u"
    var fooBar = 0
    var dependent: Int { plain }

    init(_ int: Int = 1) { self.int = int }

    class func keyPathsForValuesAffectingDependent() -> Set<String> { ["fooBar"] }
    class func automaticallyNotifiesObservers(forKey key: String) -> Bool { key != "manual" }
  }

  /// Provides undefined keys, replaces nil by 0, and validates.
  @KeyValueObservable
  final class Lenient {
    var age = 5
    var name = ""
    @NotObserved var other: [String: Any] = [:]

    func value(forUndefinedKey key: String) -> Any? { other[key] }
    func setValue(_ value: Any?, forUndefinedKey key: String) { other[key] = value }
    func setNilValueForKey(_ key: String) { age = 0 }

    func validateName(_ value: inout Any?) throws {
      guard let name = value as? String, !name.isEmpty else { throw Invalid() }
      value = name.capitalized
    }

    struct Invalid: Error {}
  }

  /// A class whose instance variable names are not found by key.
  @KeyValueObservable
  final class Closed {
    var _hidden = 3
    static var accessInstanceVariablesDirectly: Bool { false }
  }

  /// Expects that a read results in nil, for use where an expectation cannot be nested.
  func nilIs(_ value: Any?) { #expect(value == nil) }

  /// Returns the faults of a body as Apple's exceptions and messages.
  func sentences(_ body: () -> Void) -> [String] { faults(body).map(appleText) }
#endif
