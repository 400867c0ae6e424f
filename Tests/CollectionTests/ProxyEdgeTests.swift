// Proxies at the edges: the last element, optional and read-only sets, long key paths, observers that interfere.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  final class Room {
    var items: [Int] = []
  }

  @KeyValueObservable
  final class Floor {
    var room = Room()
  }

  @KeyValueObservable
  final class House {
    var floor = Floor()
  }

  @KeyValueObservable
  final class Street {
    var house = House()
  }

  @KeyValueObservable
  final class City {
    var street = Street()
  }

  @KeyValueObservable
  final class County {
    var city = City()
  }

  @KeyValueObservable
  final class Country {
    var county = County()
    let codes: Set<Int> = [1]
  }

  @Suite("The edges of a proxy")
  struct ProxyEdgeTests {
    let library = Library()
    let log = Log()

    @Test func `Exchanging as Apple's array does reaches the last element from both sides`() {
      library.numbers = [10, 20, 30, 40]
      let numbers = library.mutableArrayValue(for: \.numbers)
      let token = library.log(\.numbers, to: log)
      numbers.exchange(0, 3)
      #expect(log.take() == ["replacement [0] [10]>[40]", "replacement [3] [40]>[10]"])
      numbers.exchange(3, 0)
      #expect(log.take() == ["replacement [3] [10]>[40]", "replacement [0] [40]>[10]"])
      #expect(library.numbers == [10, 20, 30, 40])
      token.invalidate()
    }

    @Test func `The report of an exchange names the index that is out of range`() {
      library.numbers = [1, 2, 3]
      let raised = faults { library.mutableArrayValue(for: \.numbers).swapAt(2, 6) }
      #expect(raised.map(\.code) == [37])
      #expect(raised.first?.summary.contains("index 6 is outside") == true)
      #expect(library.numbers == [1, 2, 3])
    }

    @Test func `Removing an element by value leaves out what an observer has removed meanwhile`() {
      library.numbers = [1, 1, 1]
      let token = library.observe(\.numbers, options: [.old, .new]) { [log] library, change in
        log.add(text(change))
        if library.numbers.count == 2 { library.mutableArrayValue(for: \.numbers).removeLast() }
      }
      library.mutableArrayValue(for: \.numbers).remove(1)
      #expect(log.lines == ["removal [2] [1]>-", "removal [1] [1]>-", "removal [0] [1]>-"])
      #expect(library.numbers.isEmpty)
      token.invalidate()
    }

    @Test func `Elements inserted at successive indexes are inserted in place`() {
      library.numbers = Array(0..<100)
      library.numbers.reserveCapacity(200)
      func address() -> UInt { library.numbers.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) } }
      let before = address()
      library.mutableArrayValue(for: \.numbers).insert([7, 8], at: [1, 2])
      #expect(address() == before && library.numbers[..<4] == [0, 7, 8, 1])
    }

    @Test func `An index outside of an independent list is a fault, and changes nothing`() {
      let own = KeyValueMutableArray<Int>([1, 2])
      let raised = faults { own.remove(at: 2) }
      #expect(raised.map(\.code) == [37])
      #expect(raised.first?.summary.contains("index 2 is outside of a list, which has 2 elements") == true)
      #expect(Array(own) == [1, 2])
    }

    @Test func `The members of an optional set are changed in it`() {
      library.labels = ["a"]
      let token = library.log(\.labels, to: log)
      let labels = library.mutableSetValue(for: \.labels)
      labels.insert("b")
      labels.remove("a")
      #expect(log.lines == ["insertion ->{b}", "removal {a}>-"] && library.labels == ["b"])
      token.invalidate()
    }

    @Test func `A read-only set can be read through a proxy, but not mutated`() {
      let codes = Country().mutableSetValue(forKey: "codes", of: Int.self)
      #expect(faults { codes.insert(2) }.map(\.code) == [9])
      #expect(faults { codes.removeAll() }.map(\.code) == [9])
      #expect(codes.members == [1])
    }

    @Test func `A typed key path may lead through seven properties`() {
      let country = Country()
      let raised = faults { country.mutableArrayValue(for: \.county.city.street.house.floor.room.items).append(1) }
      #expect(raised.isEmpty && country.county.city.street.house.floor.room.items == [1])
    }

    @Test func `The closure of an observation is released at its end, also after a change by a proxy`() {
      final class Witness: Sendable {
        let log: Log
        init(_ log: Log) { self.log = log }
        deinit { log.add("released") }
      }
      do {
        let witness = Witness(log)
        let token = library.observe(\.numbers) { _, _ in withExtendedLifetime(witness) {} }
        library.mutableArrayValue(for: \.numbers).append(1)
        #expect(log.lines.isEmpty)
        token.invalidate()
      }
      #expect(log.lines == ["released"])
    }
  }
#endif
