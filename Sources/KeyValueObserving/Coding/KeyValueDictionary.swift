// A dictionary object whose entries are observed by key.

import CKVO
import Foundation

/// A dictionary whose entries can be observed, like an `NSMutableDictionary` on Apple's platforms.
///
/// ```swift
/// let settings = KeyValueDictionary(["volume": 3])
/// settings.addObserver(watcher, forKeyPath: "volume", options: [.old, .new])
/// settings["volume"] = 5          // notifies
/// settings.setValue(nil, forKey: "volume")  // removes, and notifies
/// ```
/// Any string is a key; the value of a key without an entry is `nil`. A dictionary that is the value of another object's property
/// can be part of a key path: `"document.info.pages"`. The subscript, `setValue(_:forKey:)` and removal notify the observers of the
/// key, as on Apple's platforms also if the value stays the same.
///
/// A mutation of a collection through `mutableArrayValue(forKey:)` and its like sets the entry as a whole, which tells a setting.
///
/// A subclass may add properties, which are not available as keys.
///
/// Observation is safe on any thread. Access to the entries is not synchronized: two threads that change the dictionary at the same
/// time need a lock.
open class KeyValueDictionary: KeyValueObservable, CustomStringConvertible {
  public nonisolated let _$kvo = KeyValueObservationHeader()
  public nonisolated var __keyValueObject: KeyValueObjectReference { _$kvo.reference }
  public nonisolated static func __describeKeyValueProperties(_ description: KeyValueClassDescription) {}

  private var entries: [String: Any]

  /// Creates a dictionary with these entries.
  public init(_ entries: [String: Any] = [:]) { self.entries = entries }

  /// Accesses the value of a key. Setting it notifies; `nil` removes the entry.
  public subscript(key: String) -> Any? {
    get {
      if kvo_track_is_recording() { kvo_track_read(adoptedObject, keyHash(key)) }
      return entries[key]
    }
    set {
      willChangeValue(forKey: key)
      entries[key] = newValue
      didChangeValue(forKey: key)
    }
  }

  /// The entries as a plain dictionary.
  public var dictionary: [String: Any] { entries }
  /// The number of entries.
  public var count: Int { entries.count }
  /// The keys, in an unspecified order.
  public var keys: [String] { Array(entries.keys) }
  /// The description of the entries.
  public var description: String { entries.description }

  /// Removes an entry, notifies the observers of its key, and returns its value.
  @discardableResult
  public func removeValue(forKey key: String) -> Any? {
    let value = entries[key]
    self[key] = nil
    return value
  }

  /// Returns the value of an entry, or `nil` if there is none; for a key that begins with `@`, the result of that collection
  /// operator.
  public nonisolated func value(forUndefinedKey key: String) -> Any? {
    key.hasPrefix("@") ? entries.value(forKey: key) : self[key]
  }

  /// Sets the entry of a key; `nil` removes it.
  public nonisolated func setValue(_ value: Any?, forUndefinedKey key: String) { self[key] = value }
}
