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
