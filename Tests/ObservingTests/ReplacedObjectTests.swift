// Threads that replace the object on a path while others begin to observe the path. The accessors have a lock of their own, so this is
// a legal program.
import Foundation
import KeyValueObserving
import Testing

/// A property without the macro, whose storage has a lock.
private final class Locked<Value: Sendable>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value
  init(_ value: Value) { self.value = value }
  func read() -> Value { lock.withLock { value } }
  func store(_ new: Value) {
    let old = lock.withLock {
      defer { value = new }
      return value
    }
    withExtendedLifetime(old) {}
  }
}

private final class Leaf: KeyValueObservable, @unchecked Sendable {
  let _$kvo = KeyValueObservationHeader()
  var __keyValueObject: KeyValueObjectReference { _$kvo.reference }
  private static let key = KeyValueObservationHeader.key("value")
  private let stored = Locked(0)
  var value: Int {
    get { _$kvo.isTracking ? _$kvo.tracked(self, Self.key, { stored.read() }) : stored.read() }
    set {
      guard _$kvo.isObserved else {
        stored.store(newValue)
        _$kvo.stored(Self.key, { stored.read() })
        return
      }
      _$kvo.change(Self.key, { stored.read() }, { stored.store(newValue) })
    }
  }
  static func __describeKeyValueProperties(_ description: KeyValueClassDescription) {
    description.observed("value", key, \Leaf.value, \Leaf?.?.value)
  }
}

private final class Root: KeyValueObservable, @unchecked Sendable {
  let _$kvo = KeyValueObservationHeader()
  var __keyValueObject: KeyValueObjectReference { _$kvo.reference }
  private static let key = KeyValueObservationHeader.key("leaf")
  private let stored = Locked<Leaf?>(nil)
  var leaf: Leaf? {
    get { _$kvo.isTracking ? _$kvo.tracked(self, Self.key, { stored.read() }) : stored.read() }
    set {
      guard _$kvo.isObserved else {
        stored.store(newValue)
        _$kvo.stored(Self.key, { stored.read() })
        return
      }
      _$kvo.change(Self.key, { stored.read() }, { stored.store(newValue) })
    }
  }
  static func __describeKeyValueProperties(_ description: KeyValueClassDescription) {
    description.observed("leaf", key, \Root.leaf, \Root?.?.leaf)
  }
}

@Suite(.serialized)
struct ReplacedObjectTests {
  @Test func `The first evaluation of a path reads no object that another thread has released`() {
    let root = Root()
    onThreads(2) { thread in
      for _ in 0..<5000 {
        if thread == 0 {
          root.leaf = Leaf()
        } else {
          root.observe(\.leaf?.value, options: [.new]) { _, _ in }.invalidate()
        }
      }
    }
    #expect(root.observationInfo == nil)
  }

  @Test func `A registration that another thread ends with its receiver raises no fault`() {
    let (root, receiver, faults) = (Root(), Leaf(), Count())
    root.leaf = Leaf()
    onThreads(2) { thread in
      KeyValueFault.withHandler { _ in
        faults.add()
        return .ignore
      } in: {
        for _ in 0..<5000 {
          if thread == 0 {
            root.stopObserving(for: receiver)
          } else {
            root.observe(\.leaf?.value, options: [.new], for: receiver) { _, _, _ in }
          }
        }
      }
    }
    root.stopObserving(for: receiver)
    #expect(faults.value == 0)
    #expect(root.observationInfo == nil)
  }
}
