// Threads that replace the object on a path while others begin to observe the path. The accessors have a lock of their own, so this is
// a legal program.
import Foundation
import KeyValueObserving
import Testing

/// Properties without the macro, whose storage has a lock.
private final class Node: KeyValueObservable, @unchecked Sendable {
  let _$kvo = KeyValueObservationHeader()
  var __keyValueObject: KeyValueObjectReference { _$kvo.reference }
  private static let valueKey = KeyValueObservationHeader.key("value")
  private static let leafKey = KeyValueObservationHeader.key("leaf")
  private let lock = NSLock()
  private var stored: (value: Int, leaf: Node?) = (0, nil)

  private func read<Value>(_ path: KeyPath<(value: Int, leaf: Node?), Value>) -> Value {
    lock.withLock { stored[keyPath: path] }
  }

  var value: Int {
    get { _$kvo.isTracking ? _$kvo.tracked(self, Self.valueKey, { read(\.value) }) : read(\.value) }
    set { _$kvo.set(Self.valueKey, { read(\.value) }, { lock.withLock { stored.value = newValue } }) }
  }

  var leaf: Node? {
    get { _$kvo.isTracking ? _$kvo.tracked(self, Self.leafKey, { read(\.leaf) }) : read(\.leaf) }
    set { _$kvo.set(Self.leafKey, { read(\.leaf) }, { replaceLeaf(newValue) }) }
  }

  private func replaceLeaf(_ new: Node?) {
    let old = lock.withLock {
      defer { stored.leaf = new }
      return stored.leaf
    }
    withExtendedLifetime(old) {}  // released without the lock
  }

  static func __describeKeyValueProperties(_ description: KeyValueClassDescription) {
    description.observed("value", valueKey, \Node.value, \Node?.?.value)
    description.observed("leaf", leafKey, \Node.leaf, \Node?.?.leaf)
  }
}

@Suite("Objects on a path that another thread replaces", .serialized)
struct ReplacedObjectTests {
  private let root = Node()

  @Test func `The first evaluation of a path reads no object that another thread has released`() {
    onThreads(2) { [root] thread in
      for _ in 0..<5000 {
        if thread == 0 {
          root.leaf = Node()
        } else {
          root.observe(\.leaf?.value, options: [.new]) { _, _ in }.invalidate()
        }
      }
    }
    #expect(root.observationInfo == nil)
  }

  @Test func `A registration that another thread ends with its receiver raises no fault`() {
    let (receiver, raised) = (Node(), Count())
    root.leaf = Node()
    onThreads(2) { [root] thread in
      let found = faults {
        for _ in 0..<5000 {
          if thread == 0 {
            root.stopObserving(for: receiver)
          } else {
            root.observe(\.leaf?.value, options: [.new], for: receiver) { _, _, _ in }
          }
        }
      }
      raised.add(found.count)
    }
    root.stopObserving(for: receiver)
    #expect(raised.value == 0)
    #expect(root.observationInfo == nil)
  }
}
