// The observed class of these tests, and a log that several threads may write.
import Foundation
import KeyValueObserving

/// Its properties may be set by several threads.
final class Track: KeyValueObservable, @unchecked Sendable {
  let _$kvo = KeyValueObservationHeader()
  var __keyValueObject: KeyValueObjectReference { _$kvo.reference }

  private static let titleKey = KeyValueObservationHeader.key("title")
  private static let playsKey = KeyValueObservationHeader.key("plays")
  private static let tagsKey = KeyValueObservationHeader.key("tags")

  private let lock = NSLock()
  private var stored = (title: "", plays: 0, tags: [String]())

  var title: String {
    get { read(Self.titleKey, \.title) }
    set { write(Self.titleKey, \.title, newValue) }
  }
  var plays: Int {
    get { read(Self.playsKey, \.plays) }
    set { write(Self.playsKey, \.plays, newValue) }
  }
  var tags: [String] {
    get { read(Self.tagsKey, \.tags) }
    set { write(Self.tagsKey, \.tags, newValue) }
  }

  private typealias Stored = (title: String, plays: Int, tags: [String])

  private func read<Value>(_ key: UInt64, _ path: KeyPath<Stored, Value>) -> Value {
    if _$kvo.isTracking { KeyValueObservationHeader.recordRead(self, key) }
    return lock.withLock { stored[keyPath: path] }
  }

  private func write<Value>(_ key: UInt64, _ path: WritableKeyPath<Stored, Value>, _ value: Value) {
    let store = { self.lock.withLock { self.stored[keyPath: path] = value } }
    let load = { self.lock.withLock { self.stored[keyPath: path] } }
    guard _$kvo.isObserved else {
      store()
      return _$kvo.stored(key, load)
    }
    _$kvo.change(key, load, store)
  }

  static func __describeKeyValueProperties(_ description: KeyValueClassDescription) {
    description.observed("title", titleKey, \Track.title, \Track?.?.title)
    description.observed("plays", playsKey, \Track.plays, \Track?.?.plays)
    description.observed("tags", tagsKey, \Track.tags, \Track?.?.tags)
  }
}

final class Log<Entry>: @unchecked Sendable {
  private let lock = NSLock()
  private var entries: [Entry] = []

  var all: [Entry] { lock.withLock { entries } }

  func add(_ entry: Entry) { lock.withLock { entries.append(entry) } }
}
