// The queue of what waits for a stream's iterator, against an array.
#if Macros
  @testable import KeyValueObserving
  import Testing

  @Suite("The queue of a stream")
  struct WaitingElementsTests {
    /// What the queue promises, with an array.
    private struct Expected {
      let buffering: KeyValueBuffering
      var elements: [Int] = []

      mutating func append(_ element: Int) -> Int? {
        elements.append(element)
        guard elements.count > buffering.limit else { return nil }
        if case .newest = buffering { return elements.removeFirst() }
        return elements.removeLast()
      }

      mutating func prepend(_ element: Int) -> Int? {
        elements.insert(element, at: 0)
        guard elements.count > buffering.limit else { return nil }
        if case .oldest = buffering { return elements.removeLast() }
        return elements.removeFirst()
      }

      mutating func takeFirst() -> Int? { elements.isEmpty ? nil : elements.removeFirst() }
    }

    @Test(
      "holds what its buffering says, in order, and returns what it drops",
      arguments: [.unbounded, .newest(0), .newest(1), .newest(5), .oldest(0), .oldest(1), .oldest(5), .oldest(8)]
        as [KeyValueBuffering])
    func againstArray(_ buffering: KeyValueBuffering) {
      var random = SystemRandomNumberGenerator()
      var (queue, expected) = (WaitingElements<Int>(buffering), Expected(buffering: buffering))
      var steps = ""
      for element in 1...3000 {
        // For a while more is added than taken, then the reverse.
        switch Int.random(in: 0..<(element / 500 % 2 == 0 ? 5 : 9), using: &random) {
        case 0, 1:
          steps += " append \(element)"
          #expect(queue.append(element) == expected.append(element), "\(steps.suffix(400))")
        case 2:
          steps += " prepend \(element)"
          #expect(queue.prepend(element) == expected.prepend(element), "\(steps.suffix(400))")
        default:
          steps += " take"
          #expect(queue.takeFirst() == expected.takeFirst(), "\(steps.suffix(400))")
        }
        #expect(queue.count == expected.elements.count)
      }
    }
  }
#endif
