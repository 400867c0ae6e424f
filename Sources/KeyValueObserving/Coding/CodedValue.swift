// Swift values in the C walk along key paths: `kvo_binding_value`, whose words hold an existential that depends on its kind.

import CKVO
import Foundation

/// Where the words begin. An existential with one protocol consists of five words, `Any` of four, one of objects of two.
private let wordsOffset = MemoryLayout<kvo_binding_value>.size - 5 * MemoryLayout<UnsafeRawPointer>.size

extension kvo_binding_value {
  /// Nil, or storage for a value.
  static var empty: kvo_binding_value {
    kvo_binding_value(ops: codedOperations, kind: KVO_KIND_NIL, words: (nil, nil, nil, nil, nil))
  }
}

extension UnsafePointer<kvo_binding_value> {
  /// The storage of a value of a kind that has this type.
  func words<Value>(as type: Value.Type) -> UnsafePointer<Value> {
    (UnsafeRawPointer(self) + wordsOffset).assumingMemoryBound(to: type)
  }

  /// Whether it is neither nil nor known to have keys.
  var isPlain: Bool { pointee.kind == KVO_KIND_UNKNOWN || pointee.kind == KVO_KIND_VALUE }

  var object: any KeyValueObservable { words(as: (any KeyValueObservable).self).pointee }
  var collection: any KeyValueCodedCollection { words(as: (any KeyValueCodedCollection).self).pointee }
  var dictionary: any CodedDictionary { words(as: (any CodedDictionary).self).pointee }

  /// The value; `nil` for nil.
  var value: Any? {
    switch pointee.kind {
    case KVO_KIND_NIL: nil
    case KVO_KIND_OBJECT: object
    case KVO_KIND_LIST, KVO_KIND_SET: collection
    case KVO_KIND_DICTIONARY: dictionary
    default: words(as: Any.self).pointee
    }
  }
}

extension UnsafeMutablePointer<kvo_binding_value> {
  func words<Value>(as type: Value.Type) -> UnsafeMutablePointer<Value> {
    (UnsafeMutableRawPointer(self) + wordsOffset).assumingMemoryBound(to: type)
  }

  /// Stores a value in storage that is nil. Its kind is found out when the walk needs it.
  func store(_ value: Any?) {
    if let value = value.flatMap(unwrapped) { store(value, as: KVO_KIND_UNKNOWN) }
  }

  /// Stores a value of a kind whose storage is `Any`.
  func store(_ value: Any, as kind: kvo_binding_kind) {
    pointee.kind = kind
    words(as: Any.self).initialize(to: value)
  }

  func store(object: any KeyValueObservable) {
    pointee.kind = KVO_KIND_OBJECT
    words(as: (any KeyValueObservable).self).initialize(to: object)
  }

  func store(collection: any KeyValueCodedCollection) {
    pointee.kind = collection._isCodedSet ? KVO_KIND_SET : KVO_KIND_LIST
    words(as: (any KeyValueCodedCollection).self).initialize(to: collection)
  }

  func store(dictionary: any CodedDictionary) {
    pointee.kind = KVO_KIND_DICTIONARY
    words(as: (any CodedDictionary).self).initialize(to: dictionary)
  }

  /// Moves the value out; the storage becomes nil.
  func take() -> Any? {
    defer { pointee.kind = KVO_KIND_NIL }
    switch pointee.kind {
    case KVO_KIND_NIL: return nil
    case KVO_KIND_OBJECT: return words(as: (any KeyValueObservable).self).move()
    case KVO_KIND_LIST, KVO_KIND_SET: return words(as: (any KeyValueCodedCollection).self).move()
    case KVO_KIND_DICTIONARY: return words(as: (any CodedDictionary).self).move()
    default: return words(as: Any.self).move()
    }
  }

  func destroy() {
    switch pointee.kind {
    case KVO_KIND_NIL: break
    case KVO_KIND_OBJECT: words(as: (any KeyValueObservable).self).deinitialize(count: 1)
    case KVO_KIND_LIST, KVO_KIND_SET: words(as: (any KeyValueCodedCollection).self).deinitialize(count: 1)
    case KVO_KIND_DICTIONARY: words(as: (any CodedDictionary).self).deinitialize(count: 1)
    default: words(as: Any.self).deinitialize(count: 1)
    }
  }

  func copy(_ other: UnsafePointer<kvo_binding_value>) {
    switch other.pointee.kind {
    case KVO_KIND_NIL: break
    case KVO_KIND_OBJECT: store(object: other.object)
    case KVO_KIND_LIST, KVO_KIND_SET: store(collection: other.collection)
    case KVO_KIND_DICTIONARY: store(dictionary: other.dictionary)
    default: store(other.words(as: Any.self).pointee, as: other.pointee.kind)
    }
  }

  /// Finds out the kind.
  func classify() {
    if isFrequent(type(of: words(as: Any.self).pointee)) {
      pointee.kind = KVO_KIND_VALUE
      return
    }
    let value = words(as: Any.self).move()
    if let object = observable(value) {
      store(object: object)
    } else if let collection = value as? any KeyValueCodedCollection {
      store(collection: collection)
    } else if let dictionary = value as? any CodedDictionary {
      store(dictionary: dictionary)
    } else {
      store(value, as: type(of: value) == NSNull.self ? KVO_KIND_NULL : KVO_KIND_VALUE)
    }
  }
}

/// Returns whether a type is one of the most frequent that have no keys. Testing for conformances is slow.
private func isFrequent(_ type: Any.Type) -> Bool { type == Int.self || type == Double.self || type == String.self }
