// Computed properties whose type is `Self`: Swift cannot make a key path to them in a class that is not final.
#if Macros
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  private class Node {
    var number = 0
    var me: Self { self }
    var maybe: Self? { number > 0 ? self : nil }
  }

  @Suite("Properties of type Self")
  struct SelfTypeTests {
    @Test func `A class that is not final may have them, and its other properties notify`() {
      let node = Node()
      nonisolated(unsafe) var delivered: [Int] = []
      let token = node.observe(\.number, options: [.new]) { delivered.append($1.newValue!) }
      node.me.number = 1
      node.maybe?.number = 2
      #expect(delivered == [1, 2])
      token.invalidate()
    }
  }
#endif
