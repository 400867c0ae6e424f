// A change as a recorder keeps it.

internal import CSwiftRuntime
public import Foundation
public import KeyValueObserving
import Synchronization

/// A change that a ``ChangeRecorder`` has recorded.
public struct RecordedChange: Sendable {
  /// The number of the change among all that the recorders of the process record, in the order in which they are delivered.
  public private(set) var order = 0
  /// The identity of the object.
  public let object: ObjectIdentifier
  /// The class of the object.
  public let objectClass: String
  /// The key path, as in reports: `title`, `author.name`.
  public let keyPath: String
  /// The kind of the change.
  public let kind: NSKeyValueChange
  /// The indexes of an insertion, removal or replacement, otherwise `nil`.
  public let indexes: IndexSet?
  /// Whether this is the notification before a change, which `.prior` requests.
  public let isPrior: Bool
  /// The kernel's ID of the thread that made the change, as in fault reports.
  public let thread: Int
  /// Whether that was the main thread.
  public let isMainThread: Bool

  private let old: RecordedValue
  private let new: RecordedValue

  /// The old value without its optionals; `nil` if it was nil, is not known, or is an object that has been deallocated since.
  public var oldValue: Any? { old.value }
  /// The new value without its optionals; `nil` if it is nil, is not known, or is an object that has been deallocated since.
  public var newValue: Any? { new.value }

  private static let last = Atomic<Int>(0)

  init<Value>(_ change: NSKeyValueObservedChange<Value>, of object: some KeyValueObservable, _ keyPath: String) {
    self.object = ObjectIdentifier(object)
    objectClass = _typeName(type(of: object), qualified: false)
    self.keyPath = keyPath
    kind = change.kind
    indexes = change.indexes
    isPrior = change.isPrior
    thread = Int(kvo_kernel_thread())
    isMainThread = kvo_is_main_thread()
    old = RecordedValue(change.oldValue)
    new = RecordedValue(change.newValue)
  }

  /// Returns the change with the next number.
  func numbered() -> RecordedChange {
    var change = self
    change.order = Self.last.add(1, ordering: .relaxed).newValue
    return change
  }
}

extension RecordedChange: CustomStringConvertible {
  /// The change in one line, such as `Document.title: "Emma" -> "Persuasion"`.
  public var description: String {
    let what =
      switch kind {
      case .setting: ""
      case .insertion: " insertion"
      case .removal: " removal"
      case .replacement: " replacement"
      }
    let places = indexes.map { " at \($0.rangeView.map(text).joined(separator: ", "))" } ?? ""
    let values = old.text == nil && new.text == nil ? "" : ": \(old.text ?? "…") -> \(new.text ?? "…")"
    return "\(objectClass).\(keyPath)\(what)\(places)\(isPrior ? " (before)" : "")\(values)"
  }

  private func text(_ range: Range<Int>) -> String {
    range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound - 1)"
  }
}

/// A value of a change. An object is not kept, other values are as they are: immutable from here on, and so safe on any thread.
private struct RecordedValue: @unchecked Sendable {
  private enum Kept {
    case nothing
    case value(Any)
    case object(WeakObject)
  }

  private let kept: Kept
  /// The value as text, when it was delivered; `nil` if the change had none.
  let text: String?

  init<Value>(_ value: Value?) {
    guard let value else {
      (kept, text) = (.nothing, nil)
      return
    }
    guard let plain = unwrapped(value), !(plain is NSNull) else {
      (kept, text) = (.nothing, "nil")
      return
    }
    // By type: a cast would bridge any value to an object.
    if type(of: plain) is AnyObject.Type {
      kept = .object(WeakObject(plain as AnyObject))
    } else {
      kept = .value(plain)
    }
    text = textOfValue(plain)
  }

  var value: Any? {
    switch kept {
    case .nothing: nil
    case .value(let value): value
    case .object(let object): object.object
    }
  }
}

private final class WeakObject: @unchecked Sendable {
  weak let object: AnyObject?

  init(_ object: AnyObject) { self.object = object }
}

/// The value as in an issue: a string in quotes, an object with its address.
func textOfValue(_ value: Any) -> String {
  guard let plain = unwrapped(value) else { return "nil" }
  guard type(of: plain) is AnyObject.Type, !(plain is any CustomStringConvertible),
    !(plain is any CustomDebugStringConvertible)
  else { return String(reflecting: plain) }
  return name(of: plain as AnyObject)
}

/// The object as in reports: `Document@0x7f3c5c0041e0`.
func name(of object: AnyObject) -> String {
  let address = String(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()), radix: 16)
  return "\(_typeName(type(of: object), qualified: false))@0x\(address)"
}
