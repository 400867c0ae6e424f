// Mutation in place: the value is not copied, and the change ends exactly once, even after an error.
#if Macros
  import KeyValueObserving
  import Testing

  private struct Failure: Error {}

  extension [Int] {
    fileprivate mutating func appendAndThrow() throws {
      append(1)
      throw Failure()
    }
    fileprivate var address: UnsafeRawPointer? { withUnsafeBytes { $0.baseAddress } }
  }

  @KeyValueObservable private final class Container {
    var list: [Int] = []
    var other: [Int] = []
    nonisolated(unsafe) static var evaluations = 0
    var once = Container.next()
    static func next() -> Int {
      evaluations += 1
      return evaluations
    }
  }

  private func swapContents(_ a: inout [Int], _ b: inout [Int]) { swap(&a, &b) }

  @Suite(.serialized) struct `Mutation in place` {
    @Test(arguments: [false, true]) func `An append into reserved capacity does not copy the array`(isObserved: Bool) {
      let container = Container()
      container.list.reserveCapacity(100)
      container.list.append(0)
      let before = container.list.address
      let append = { for index in 1..<50 { container.list.append(index) } }
      if isObserved {
        #expect(changes(of: container, \.list, values: false, append).count == 49)
      } else {
        append()
      }
      #expect(container.list.address == before)
      #expect(container.list.count == 50)
    }

    @Test func `A mutation that throws ends its change once`() {
      let container = Container()
      #expect(changes(of: container, \.list) { try container.list.appendAndThrow() } == ["[] -> [1]"])
      #expect(throws: Failure.self) { try container.list.appendAndThrow() }
      #expect(container.list == [1, 1])
    }

    @Test func `Two properties can be passed inout at the same time`() {
      let container = Container()
      container.list = [1]
      container.other = [2]
      let seen = changes(of: container, \.list) { swapContents(&container.list, &container.other) }
      #expect(seen == ["[1] -> [2]"])
      #expect(container.other == [1])
    }

    @Test func `An initial value expression is evaluated once`() {
      let before = Container.evaluations
      _ = Container()
      #expect(Container.evaluations == before + 1)
    }
  }
#endif
