// Proxies of the properties at the end of typed key paths: through references, optionals, computed properties and many objects.
#if Macros
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  final class Lodger {
    weak var owner: Library?
    var home: Library? = Library()
    var computed: Library? { home }
  }

  @KeyValueObservable
  final class Link {
    var next: Link?
    var numbers: [Int] = []
  }

  struct ProxyPathTests {
    let library = Library()

    @Test func `A typed key path may lead through a weak property`() {
      let lodger = Lodger()
      #expect(faults { lodger.mutableArrayValue(for: \.owner?.names).append("") }.isEmpty)
      lodger.owner = library
      library.names = []
      #expect(faults { lodger.mutableArrayValue(for: \.owner?.names).append("A") }.isEmpty)
      #expect(library.names == ["A"])
    }

    @Test func `A typed key path may lead through a computed property`() {
      let lodger = Lodger()
      #expect(faults { lodger.mutableArrayValue(for: \.computed?.numbers).append(1) }.isEmpty)
      #expect(lodger.home?.numbers == [1])
    }

    @Test func `A typed key path may lead through several optional properties`() {
      let (first, last) = (Link(), Link())
      first.next = Link()
      #expect(faults { first.mutableArrayValue(for: \.next?.next?.numbers).append(1) }.map(\.code) == [])
      first.next?.next = last
      #expect(faults { first.mutableArrayValue(for: \.next?.next?.numbers).append(1) }.isEmpty)
      #expect(last.numbers == [1])
    }

    @Test func `A mutation is one change with its indexes for observers of paths with "?" and with "!"`() {
      let (first, middle, last, log) = (Link(), Link(), Link(), Log())
      (first.next, middle.next) = (middle, last)
      last.numbers = [5, 0, 4, 3]
      var tokens: [NSKeyValueObservation] = []
      for options in [[.old, .new], [.old, .new, .collectionChanges]] as [NSKeyValueObservingOptions] {
        tokens.append(first.log(\.next!.next!.numbers, options, to: log))
        tokens.append(first.log(\.next?.next!.numbers, options, to: log))
        tokens.append(first.log(\.next!.next?.numbers, options, to: log))
        tokens.append(first.log(\.next?.next?.numbers, options, to: log))
        tokens.append(middle.log(\.next!.numbers, options, to: log))
      }
      last.mutableArrayValue(for: \.numbers).remove(at: [0, 2])
      #expect(log.take() == Array(repeating: "removal [0, 2] [5, 4]>-", count: 10))
      first.mutableArrayValue(for: \.next!.next!.numbers).append(7)
      #expect(log.take() == Array(repeating: "insertion [2] ->[7]", count: 10))
      for token in tokens { token.invalidate() }
    }

    @Test func `A path with "!" follows the objects on it`() {
      let (first, other, log) = (Link(), Link(), Log())
      first.next = Link()
      other.numbers = [1, 2]
      let token = first.log(\.next!.numbers, to: log)
      first.next = other
      other.mutableArrayValue(for: \.numbers).remove(at: 0)
      #expect(log.take() == ["setting []>[1, 2]", "removal [0] [1]>-"])
      token.invalidate()
    }

    @Test func `A typed key path may lead through ten objects`() {
      let first = Link()
      var last = first
      for _ in 0..<10 {
        last.next = Link()
        last = last.next!
      }
      let path: KeyPath<Link, [Int]?> = \.next?.next?.next?.next?.next?.next?.next?.next?.next?.next?.numbers
      #expect(faults { first.mutableArrayValue(for: path).append(1) }.isEmpty)
      #expect(last.numbers == [1])
    }
  }
#endif
