// The model classes of the tests of key-value coding, and helpers that collect faults and changes.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  enum Grade: Int {
    case low = 1
    case high = 2
  }

  struct Options: OptionSet {
    let rawValue: UInt8
  }

  protocol Named {}

  @KeyValueObservable
  class Person: Named {
    var name: String
    var age = 0
    var friend: Person?
    init(_ name: String, age: Int = 0) {
      self.name = name
      self.age = age
    }
  }

  /// A property of each kind.
  @KeyValueObservable
  final class Record {
    var int = 1
    var int8: Int8 = 1
    var unsigned: UInt = 1
    var double = 1.0
    var float: Float = 1
    var bool = false
    var decimal = Decimal(1)
    var string = "s"
    var text: String?
    var number: Int?
    var nested: Int??
    var grade = Grade.low
    var maybeGrade: Grade?
    var options = Options(rawValue: 0)
    var numbers: [Int] = []
    var dense: ContiguousArray<Int> = []
    var optionals: [Int?] = []
    var tags: Set<String> = []
    var counts: [String: Int] = [:]
    var grades: [String: [Grade]] = [:]
    var any: Any = 0
    var maybeAny: Any?
    var object: NSObject?
    var named: (any Named)?
    var point = (x: 0, y: 0)
    var range = 0..<1
    var action: () -> String = { "none" }
    var person: Person?
    let constant = 7
    var half: Double { double / 2 }
    var doubled: Int {
      get { int * 2 }
      set { int = newValue / 2 }
    }
    weak var weakPerson: Person?
  }

  @KeyValueObservable
  class Company {
    var people: [Person] = []
    var team: [Person]?
    var shelves: [[Person]] = []
    var info: [String: Any] = [:]
    var things: Set<Int> = []
    var basket = Basket()
  }

  /// Shows its fruits by a computed property.
  @KeyValueObservable
  final class Basket {
    var fruits = ["fig"]
    var shown: [String] { fruits }
  }

  /// The data of a fault: code, Apple's exception and sentence without addresses, and the first line.
  struct Raised: CustomStringConvertible {
    let code: Int
    let exception: String?
    let sentence: String?
    let summary: String
    let help: String?
    var description: String { "KVO\(code) \(summary)" }

    init(_ fault: KeyValueFault) {
      code = fault.code
      exception = fault.exceptionName
      sentence = fault.appleSentence.map { $0.replacing(/0x[0-9a-f]+/, with: "0x") }
      help = fault.help
      summary = fault.summary.replacing(#/^KVO[0-9]+ fatal: /#, with: "").replacing(/@?0x[0-9a-f]+/, with: "")
        .replacing(#/, at [^ ]+:[0-9]+$/#, with: "")
    }
  }

  /// Returns the faults that a function raises; they are ignored.
  func faults(_ body: () throws -> Void) rethrows -> [Raised] {
    var raised: [Raised] = []
    try KeyValueFault.withHandler(
      {
        raised.append(Raised($0))
        return .ignore
      }, in: body)
    return raised
  }

  /// Returns the faults of a read that results in nil.
  func refused(_ read: () -> Any?) -> [Raised] {
    var value: Any? = 1
    let raised = faults { value = read() }
    #expect(value == nil)
    return raised
  }

  /// Logs each change as `keyPath old>new`, with `-` for a missing value.
  final class Watcher: KeyValueObserver {
    private(set) var lines: [String] = []

    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      let old = change?[.oldKey].map { "\($0)" } ?? "-"
      let new = change?[.newKey].map { "\($0)" } ?? "-"
      lines.append("\(keyPath ?? "") \(old)>\(new)")
    }
  }

  extension KeyValueObservable {
    /// Returns the changes that an observer of a key path receives while `body` runs.
    func changes(of keyPath: String, _ body: () -> Void) -> [String] {
      let watcher = Watcher()
      addObserver(watcher, forKeyPath: keyPath, options: [.old, .new])
      body()
      removeObserver(watcher, forKeyPath: keyPath)
      return watcher.lines
    }
  }
#endif
