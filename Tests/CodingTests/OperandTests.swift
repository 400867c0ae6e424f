// The elements that operators compute with: nil, numbers of every type, and values that can be compared.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("Operands of collection operators")
  struct OperandTests {
    @Test func `An element that is nil has no value`() {
      let numbers: [Int?] = [1, nil, 3]
      #expect(numbers.value(forKeyPath: "@sum.self") as? Int == 4)
      #expect(numbers.value(forKeyPath: "@min.self") as? Int == 1)
      #expect(numbers.value(forKeyPath: "@unionOfObjects.self") as? [Int] == [1, 3])
    }

    @Test func `A fault about an element that is nil names its type`() {
      let lists: [[Int]?] = [[1], nil]
      let raised = refused { lists.value(forKeyPath: "@unionOfArrays.self") }
      #expect(raised.map(\.code) == [36])
      #expect(raised.first?.summary.contains("to a value of type Optional<Array<Int>>, which is not an array") == true)
    }

    @Test func `@min and @max compare the values of any comparable type`() {
      let letters: [Character] = ["b", "c", "a"]
      #expect(letters.value(forKeyPath: "@min.self") as? Character == "a")
      #expect(letters.value(forKeyPath: "@max.self") as? Character == "c")
    }

    #if arch(x86_64)
      @Test func `A number that no Double can hold is added exactly, and infinity is a number too`() {
        let odd = (1 << 53) + 1
        let exact: [Float80] = [Float80(odd)]
        #expect(exact.value(forKeyPath: "@sum.self") as? Decimal == Decimal(odd))
        let endless: [Float80] = [.infinity, 1]
        #expect(endless.value(forKeyPath: "@sum.self") as? Double == .infinity)
      }
    #endif
  }
#endif
