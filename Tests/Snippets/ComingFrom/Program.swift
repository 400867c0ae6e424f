// The code of Documentation/ComingFrom.md as a client program. Each block begins with new objects.
import Foundation
import KeyValueObserving
import Observation
import Testing

// declarations: classes
// declarations: Cocoa Bindings: transformers
// declarations: Observable: the class

nonisolated(unsafe) var printed: [String] = []

func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {
  printed.append(items.map { "\($0)" }.joined(separator: separator))
}

@Suite("ComingFrom.md: the code prints the output in its comments", .serialized) struct ComingFromTests {
  // statements: classes

  init() { printed = [] }

  @Test func `ETRKVO: observeKeyPath`() {
    // snippet: ETRKVO: observeKeyPath
    #expect(
      printed
      // prints: ETRKVO: observeKeyPath
    )
  }

  @Test func `ETRKVO: a stored observation`() {
    // snippet: ETRKVO: a stored observation
    #expect(
      printed
      // prints: ETRKVO: a stored observation
    )
  }

  @Test func `ETRKVO: options and a block that stops itself`() {
    // snippet: ETRKVO: options and a block that stops itself
    #expect(
      printed
      // prints: ETRKVO: options and a block that stops itself
    )
  }

  @Test func `ETRKVO: silence`() {
    // snippet: ETRKVO: silence
    #expect(
      printed
      // prints: ETRKVO: silence
    )
  }

  @Test func `YJSafeKVO: observe`() {
    // snippet: YJSafeKVO: observe
    #expect(
      printed
      // prints: YJSafeKVO: observe
    )
  }

  @Test func `YJSafeKVO: options and queue`() {
    // snippet: YJSafeKVO: options and queue
    #expect(
      printed
      // prints: YJSafeKVO: options and queue
    )
  }

  @Test func `YJSafeKVO: unobserve`() {
    // snippet: YJSafeKVO: unobserve
    #expect(
      printed
      // prints: YJSafeKVO: unobserve
    )
  }

  @Test func `YJSafeKVO: boundTo`() {
    // snippet: YJSafeKVO: boundTo
    #expect(
      printed
      // prints: YJSafeKVO: boundTo
    )
  }

  @Test func `YJSafeKVO: filter and convert and applied`() {
    // snippet: YJSafeKVO: filter and convert and applied
    #expect(
      printed
      // prints: YJSafeKVO: filter and convert and applied
    )
  }

  @Test func `SJObserverHelper: sj_addObserver`() {
    // snippet: SJObserverHelper: sj_addObserver
    #expect(
      printed
      // prints: SJObserverHelper: sj_addObserver
    )
  }

  @Test func `SJObserverHelper: sjkvo_observe`() {
    // snippet: SJObserverHelper: sjkvo_observe
    #expect(
      printed
      // prints: SJObserverHelper: sjkvo_observe
    )
  }

  @Test func `FBKVOController: observe with a block`() {
    // snippet: FBKVOController: observe with a block
    #expect(
      printed
      // prints: FBKVOController: observe with a block
    )
  }

  @Test func `FBKVOController: action`() {
    // snippet: FBKVOController: action
    #expect(
      printed
      // prints: FBKVOController: action
    )
  }

  @Test func `FBKVOController: keyPaths`() {
    // snippet: FBKVOController: keyPaths
    #expect(
      printed
      // prints: FBKVOController: keyPaths
    )
  }

  @Test func `FBKVOController: unobserve`() {
    // snippet: FBKVOController: unobserve
    #expect(
      printed
      // prints: FBKVOController: unobserve
    )
  }

  @Test func `MAKVONotificationCenter: addObserver with a block`() {
    // snippet: MAKVONotificationCenter: addObserver with a block
    #expect(
      printed
      // prints: MAKVONotificationCenter: addObserver with a block
    )
  }

  @Test func `MAKVONotificationCenter: several key paths`() {
    // snippet: MAKVONotificationCenter: several key paths
    #expect(
      printed
      // prints: MAKVONotificationCenter: several key paths
    )
  }

  @Test func `MAKVONotificationCenter: selector and userInfo`() {
    // snippet: MAKVONotificationCenter: selector and userInfo
    #expect(
      printed
      // prints: MAKVONotificationCenter: selector and userInfo
    )
  }

  @Test func `MAKVONotificationCenter: an array as the target`() {
    // snippet: MAKVONotificationCenter: an array as the target
    #expect(
      printed
      // prints: MAKVONotificationCenter: an array as the target
    )
  }

  @Test func `MAKVONotificationCenter: removal`() {
    // snippet: MAKVONotificationCenter: removal
    #expect(
      printed
      // prints: MAKVONotificationCenter: removal
    )
  }
}
