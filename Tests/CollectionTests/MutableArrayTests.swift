// Mutations of an array through its proxy, and the resulting notifications.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("Mutating an array through a proxy")
  struct MutableArrayTests {
    let library = Library()
    let log = Log()

    /// Runs a mutation of the numbers 10, 20, 30, 40 and returns the changes that an observer received.
    private func delivered(_ mutate: (KeyValueMutableArray<Int>) -> Void) -> [String] {
      library.numbers = [10, 20, 30, 40]
      let token = library.log(\.numbers, to: log)
      mutate(library.mutableArrayValue(forKey: "numbers", of: Int.self))
      token.invalidate()
      return log.take()
    }

    @Test func `Appending is one insertion at the end`() {
      #expect(delivered { $0.append(50) } == ["insertion [4] ->[50]"])
      #expect(library.numbers == [10, 20, 30, 40, 50])
      #expect(delivered { $0.append(contentsOf: [50, 60]) } == ["insertion [4, 5] ->[50, 60]"])
      #expect(delivered { $0 += [50] } == ["insertion [4] ->[50]"])
    }

    @Test func `Inserting is one insertion, with the indexes after the change`() {
      #expect(delivered { $0.insert(5, at: 0) } == ["insertion [0] ->[5]"])
      #expect(delivered { $0.insert(contentsOf: [1, 2], at: 2) } == ["insertion [2, 3] ->[1, 2]"])
      #expect(delivered { $0.insert([1, 2, 3], at: [0, 2, 6]) } == ["insertion [0, 2, 6] ->[1, 2, 3]"])
      #expect(library.numbers == [1, 10, 2, 20, 30, 40, 3])
    }

    @Test func `Removing is one removal, with the indexes before the change`() {
      #expect(delivered { log.add("\($0.remove(at: 1) == 20)") } == ["removal [1] [20]>-", "true"])
      #expect(delivered { log.add("\($0.removeFirst() == 10)") } == ["removal [0] [10]>-", "true"])
      #expect(delivered { log.add("\($0.removeLast() == 40)") } == ["removal [3] [40]>-", "true"])
      #expect(delivered { log.add("\($0.popLast() == 40)") } == ["removal [3] [40]>-", "true"])
      #expect(delivered { log.add("\($0.popFirst() == 10)") } == ["removal [0] [10]>-", "true"])
      #expect(delivered { $0.removeFirst(2) } == ["removal [0, 1] [10, 20]>-"])
      #expect(delivered { $0.removeLast(2) } == ["removal [2, 3] [30, 40]>-"])
      #expect(delivered { $0.remove(at: [0, 3]) } == ["removal [0, 3] [10, 40]>-"])
      #expect(library.numbers == [20, 30])
      #expect(delivered { $0.remove(atOffsets: [1, 2]) } == ["removal [1, 2] [20, 30]>-"])
      #expect(delivered { $0.removeAll { $0 > 15 && $0 != 30 } } == ["removal [1, 3] [20, 40]>-"])
      #expect(library.numbers == [10, 30])
      #expect(delivered { $0.removeSubrange(1...2) } == ["removal [1, 2] [20, 30]>-"])
      #expect(delivered { $0.removeSubranges(RangeSet([0..<1, 2..<4])) } == ["removal [0, 2, 3] [10, 30, 40]>-"])
      #expect(delivered { $0.removeAll() } == ["removal [0, 1, 2, 3] [10, 20, 30, 40]>-"])
      #expect(library.numbers.isEmpty)
    }

    @Test func `Removing the first or last no elements changes nothing, and is no fault`() {
      let raised = faults {
        #expect(delivered { $0.removeFirst(0) }.isEmpty && delivered { $0.removeLast(0) }.isEmpty)
        library.numbers = []
        library.mutableArrayValue(for: \.numbers).removeFirst(0)
      }
      #expect(raised.isEmpty)
      #expect(faults { library.mutableArrayValue(for: \.numbers).removeFirst(-1) }.map(\.code) == [37])
    }

    @Test func `Removing an element by value removes each equal one, the last one first`() {
      library.numbers = [1, 2, 1]
      let token = library.log(\.numbers, to: log)
      library.mutableArrayValue(for: \.numbers).remove(1)
      #expect(log.take() == ["removal [2] [1]>-", "removal [0] [1]>-"])
      library.mutableArrayValue(for: \.numbers).remove(7)
      #expect(log.take().isEmpty)
      token.invalidate()
    }

    @Test func `Replacing is one replacement with old and new elements`() {
      #expect(delivered { $0[1] = 21 } == ["replacement [1] [20]>[21]"])
      #expect(delivered { $0[1] += 1 } == ["replacement [1] [20]>[21]"])
      #expect(delivered { $0[1...2] = [21, 31] } == ["replacement [1, 2] [20, 30]>[21, 31]"])
      #expect(delivered { $0.replace(at: [0, 3], with: [11, 41]) } == ["replacement [0, 3] [10, 40]>[11, 41]"])
      #expect(library.numbers == [11, 20, 30, 41])
      #expect(delivered { $0.swapAt(0, 2) } == ["replacement [0, 2] [10, 30]>[30, 10]"])
      #expect(delivered { $0.swapAt(1, 1) }.isEmpty)
    }

    @Test func `Exchanging as Apple's array does is two replacements`() {
      #expect(delivered { $0.exchange(0, 2) } == ["replacement [0] [10]>[30]", "replacement [2] [30]>[10]"])
      #expect(library.numbers == [30, 20, 10, 40])
    }

    @Test
    func `Replacing a range by another number of elements is a replacement, and an insertion or removal`() {
      #expect(
        delivered { $0.replaceSubrange(1..<2, with: [1, 2, 3]) } == [
          "replacement [1] [20]>[1]", "insertion [2, 3] ->[2, 3]",
        ])
      #expect(library.numbers == [10, 1, 2, 3, 30, 40])
      #expect(
        delivered { $0.replaceSubrange(1..., with: [1]) } == ["replacement [1] [20]>[1]", "removal [2, 3] [30, 40]>-"])
      #expect(library.numbers == [10, 1])
      #expect(delivered { $0.replaceSubrange(2..<2, with: [1]) } == ["insertion [2] ->[1]"])
      #expect(delivered { $0.replaceSubrange(2..<4, with: []) } == ["removal [2, 3] [30, 40]>-"])
    }

    @Test func `Setting all elements is a removal and an insertion`() {
      #expect(
        delivered { $0.setArray([1]) } == ["removal [0, 1, 2, 3] [10, 20, 30, 40]>-", "insertion [0] ->[1]"])
      library.numbers = []
      let token = library.log(\.numbers, to: log)
      library.mutableArrayValue(for: \.numbers).setArray([5])
      #expect(log.take() == ["insertion [0] ->[5]"])
      token.invalidate()
    }

    @Test func `Reordering is one replacement of the indexes whose elements differ`() {
      #expect(delivered { $0.sort(by: >) } == ["replacement [0, 1, 2, 3] [10, 20, 30, 40]>[40, 30, 20, 10]"])
      #expect(delivered { $0.sort() }.isEmpty)
      #expect(delivered { $0.reverse() }.count == 1)
      library.numbers = [1, 5, 3, 4, 1]
      let token = library.log(\.numbers, to: log)
      let numbers = library.mutableArrayValue(for: \.numbers)
      numbers.reverse()
      #expect(log.take() == ["replacement [1, 3] [5, 4]>[4, 5]"])
      numbers.sort()
      #expect(log.take() == ["replacement [1, 3, 4] [4, 5, 1]>[1, 4, 5]"])
      numbers.sort(using: KeyPathComparator(\.self, order: .reverse))
      #expect(library.numbers == [5, 4, 3, 1, 1])
      _ = log.take()
      numbers.move(fromOffsets: [0], toOffset: 3)
      #expect(log.take() == ["replacement [0, 1, 2] [5, 4, 3]>[4, 3, 5]"])
      let pivot = numbers.partition { $0 < 4 }
      #expect(pivot == 2 && log.take().count == 1 && library.numbers[..<2].allSatisfy { $0 >= 4 })
      library.numbers = Array(0..<50)
      _ = log.take()
      numbers.shuffle()
      #expect(log.take().count == 1 && library.numbers.sorted() == Array(0..<50))
      token.invalidate()
    }

    @Test func `A call that changes no element does not notify`() {
      #expect(
        delivered {
          $0.append(contentsOf: [])
          $0.insert(contentsOf: [], at: 4)
          $0.remove(at: [])
          $0.insert([], at: [])
          $0.replace(at: [], with: [])
          $0.removeSubrange(4..<4)
          $0.removeAll { $0 > 100 }
        }.isEmpty)
      library.numbers = []
      let token = library.log(\.numbers, to: log)
      library.mutableArrayValue(for: \.numbers).removeAll()
      #expect(log.lines.isEmpty)
      token.invalidate()
    }

    @Test func `The prior notification has kind and indexes too, with the old elements`() {
      library.numbers = [10, 20]
      let token = library.log(\.numbers, [.old, .new, .prior], to: log)
      let numbers = library.mutableArrayValue(for: \.numbers)
      numbers.append(30)
      numbers.remove(at: 0)
      numbers[0] = 21
      #expect(
        log.lines == [
          "prior insertion [2] ->-", "insertion [2] ->[30]", "prior removal [0] [10]>-", "removal [0] [10]>-",
          "prior replacement [0] [20]>-", "replacement [0] [20]>[21]",
        ])
      token.invalidate()
    }

    @Test func `Indexes are delivered also if no values are requested`() {
      let token = library.log(\.numbers, [], to: log)
      library.mutableArrayValue(for: \.numbers).append(1)
      #expect(log.lines == ["insertion [0] ->-"])
      token.invalidate()
    }

    @Test func `A classic observer gets kind, index set and arrays in its dictionary`() {
      let recorder = ClassicRecorder(log)
      library.addObserver(recorder, forKeyPath: "numbers", options: [.old, .new])
      let numbers = library.mutableArrayValue(forKey: "numbers", of: Int.self)
      numbers.append(contentsOf: [1, 2])
      numbers[0] = 3
      numbers.remove(at: [0, 1])
      library.numbers = [9]
      #expect(
        log.lines == [
          "numbers 2 [0, 1] ->[1, 2]", "numbers 4 [0] [1]>[3]", "numbers 3 [0, 1] [3, 2]>-", "numbers 1 []>[9]",
        ])
      library.removeObserver(recorder, forKeyPath: "numbers")
    }

    @Test func `A proxy with element type Any casts the elements in both directions`() {
      let token = library.log(\.numbers, to: log)
      let numbers = library.mutableArrayValue(forKey: "numbers")
      numbers.append(1)
      numbers.insert(2, at: 0)
      #expect(numbers.map { $0 as! Int } == [2, 1])
      #expect(log.lines == ["insertion [0] ->[1]", "insertion [0] ->[2]"])
      numbers.remove(2)
      #expect(library.numbers == [1])
      token.invalidate()
    }

    @Test func `A proxy contains the present elements, also after the property was set`() {
      let numbers = library.mutableArrayValue(for: \.numbers)
      library.numbers = [1, 2, 3]
      #expect(numbers.count == 3 && numbers[2] == 3 && numbers.first == 1 && Array(numbers) == [1, 2, 3])
      #expect(numbers[1...].elementsEqual([2, 3]) && numbers.contains(2) && "\(numbers)" == "[1, 2, 3]")
      library.numbers = []
      #expect(numbers.isEmpty && numbers.popLast() == nil)
    }

    @Test func `A proxy created before the observation began notifies`() {
      let numbers = library.mutableArrayValue(for: \.numbers)
      let token = library.log(\.numbers, to: log)
      numbers.append(1)
      #expect(log.lines == ["insertion [0] ->[1]"])
      token.invalidate()
      numbers.append(2)
      #expect(log.lines.count == 1 && library.numbers == [1, 2])
    }

    @Test func `An independent list is a collection like any other, and sums do not change the property`() {
      let own = KeyValueMutableArray<Int>()
      own.append(contentsOf: [3, 1, 2])
      own.sort()
      #expect(Array(own) == [1, 2, 3] && KeyValueMutableArray([1, 2, 3]) == own)
      library.numbers = [1]
      let sum = library.mutableArrayValue(for: \.numbers) + [2]
      #expect(Array(sum) == [1, 2] && library.numbers == [1])
      var generic = library.mutableArrayValue(for: \.numbers)
      func fill(_ collection: inout some RangeReplaceableCollection<Int>) { collection.append(7) }
      fill(&generic)
      #expect(library.numbers == [1, 7])
    }
  }
#endif
