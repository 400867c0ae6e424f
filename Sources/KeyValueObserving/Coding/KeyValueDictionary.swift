// A dictionary that is an object: its entries are observed by key.

import CKVO
import Foundation

/// A dictionary whose entries can be observed: the counterpart of observing an `NSMutableDictionary`.
///
/// ```swift
/// let settings = KeyValueDictionary(["volume": 3])
/// settings.addObserver(watcher, forKeyPath: "volume", options: [.old, .new])
/// settings["volume"] = 5          // notifies
/// settings.setValue(nil, forKey: "volume")  // removes, and notifies
/// ```
/// Any string is a key; one that is absent has the value `nil`. As the value of another object's property it may stand anywhere
/// in a key path: `"document.info.pages"`. Assigning, `setValue(_:forKey:)` and removing notify observers of the key, also
/// when the value stays the same, as on Apple's platforms.
///
/// A subclass may add to it; its own properties are no keys.
///
/// Observing is safe on any thread; the entries are not: two threads that change the dictionary at the same time need a lock.
open class KeyValueDictionary: KeyValueObservable, CustomStringConvertible {
  public nonisolated let _$kvo = KeyValueObservationHeader()
  public nonisolated var __keyValueObject: KeyValueObjectReference { _$kvo.reference }
  public nonisolated static func __describeKeyValueProperties(_ description: KeyValueClassDescription) {
    description.answersUndefinedKeys()
  }

  private var entries: [String: Any]

  /// Creates a dictionary with these entries.
  public init(_ entries: [String: Any] = [:]) { self.entries = entries }

  /// The value of a key; setting it notifies, and `nil` removes the key.
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
  /// The keys, in no order.
  public var keys: [String] { Array(entries.keys) }
  /// The entries, as a dictionary prints them.
  public var description: String { entries.description }

  /// Removes an entry, and notifies the observers of its key; returns its value.
  @discardableResult
  public func removeValue(forKey key: String) -> Any? {
    let value = entries[key]
    self[key] = nil
    return value
  }

  /// The entry of a key, `nil` if there is none; of a key that begins with `@`, what that operator gives for the dictionary.
  public nonisolated func value(forUndefinedKey key: String) -> Any? {
    key.hasPrefix("@") ? entries.value(forKey: key) : self[key]
  }

  /// Sets the entry of a key, or with `nil` removes it.
  public nonisolated func setValue(_ value: Any?, forUndefinedKey key: String) { self[key] = value }
}
