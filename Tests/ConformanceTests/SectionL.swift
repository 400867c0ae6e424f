// Section L of Documentation/AppleCompatibility.md: ordered collections.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  class Lists {
    var list: [Int] = [10, 20, 30]
    var maybe: [Int]?
    var words: [String] = []
    var owner: Lists?
    var manualList: [Int] = []
    /// Set as a whole, through its setter.
    var computed: [Int] {
      get { list }
      set {
        sets += 1
        list = newValue
      }
    }
    @NotObserved var sets = 0
    var children: [Lists] = []

    class func automaticallyNotifiesObservers(forKey key: String) -> Bool { key != "manualList" }
  }

  @Suite("L. Ordered collections")
  struct SectionL {
    let lists = Lists()
    let w = Watcher()

    private var array: KeyValueMutableArray<Int> { lists.mutableArrayValue(forKey: "list", of: Int.self) }

    /// Returns the changes that an observer of a key receives while a body runs.
    private func delivered(
      _ key: String = "list", _ options: NSKeyValueObservingOptions = [.old, .new], _ body: () -> Void
    ) -> [String] {
      lists.add(w, key, options)
      body()
      lists.remove(w, key)
      return w.take()
    }

    @Test func `189: Mutating an array property in place is a setting, or changes of elements if requested`() {
      #expect(delivered("list", [.new, .collectionChanges]) { lists.list.append(40) } == ["w insertion ->[40] at [3]"])
      lists.list = [10, 20, 30]
      #expect(delivered { lists.list.append(40) } == ["w [10, 20, 30]>[10, 20, 30, 40]"])
      #expect(delivered { lists.list[0] = 1 } == ["w [10, 20, 30, 40]>[1, 20, 30, 40]"])
      #expect(delivered { lists.list.sort(by: >) } == ["w [1, 20, 30, 40]>[40, 30, 20, 1]"])
    }

    @Test func `191: An insertion has the indexes and the inserted elements, and no old ones`() {
      #expect(delivered { array.insert(15, at: 1) } == ["w insertion ->[15] at [1]"])
    }

    @Test func `192: A removal has the indexes and the removed elements, and no new ones`() {
      #expect(delivered { array.remove(at: 1) } == ["w removal [20]>- at [1]"])
    }

    @Test func `193, 208: A replacement is one notification, with old and new elements`() {
      #expect(delivered { array[1] = 21 } == ["w replacement [20]>[21] at [1]"])
    }

    @Test func `194: Indexes are present whatever the options are`() {
      #expect(delivered("list", []) { array.append(40) } == ["w insertion ->- at [3]"])
    }

    @Test func `195: Indexes are those after an insertion, and those before a removal`() {
      #expect(delivered { array.insert([1, 2], at: [0, 4]) } == ["w insertion ->[1, 2] at [0, 4]"])
      #expect(lists.list == [1, 10, 20, 30, 2])
      #expect(delivered { array.remove(at: [0, 4]) } == ["w removal [1, 2]>- at [0, 4]"])
      #expect(lists.list == [10, 20, 30])
    }

    @Test func `196, 210: Several indexes are one notification, in ascending order`() {
      #expect(delivered { array.insert([1, 2], at: [0, 1]) } == ["w insertion ->[1, 2] at [0, 1]"])
      #expect(delivered { array.remove(at: [3, 0]) } == ["w removal [1, 20]>- at [0, 3]"])
      #expect(delivered { array.replace(at: [0, 1], with: [8, 9]) } == ["w replacement [2, 10]>[8, 9] at [0, 1]"])
    }

    @Test func `197: Setting the whole array is a setting, with whole arrays and no indexes`() {
      #expect(delivered { lists.list = [1] } == ["w [10, 20, 30]>[1]"])
      #expect(delivered { lists.setValue([2], forKey: "list") } == ["w [1]>[2]"])
    }

    @Test func `198: Manual changes have the same dictionaries`() {
      let lines = delivered("manualList") {
        lists.willChange(.insertion, valuesAt: [0, 1], forKey: "manualList")
        lists.manualList = [1, 2]
        lists.didChange(.insertion, valuesAt: [0, 1], forKey: "manualList")
        lists.willChange(.replacement, valuesAt: [1], for: \.manualList)
        lists.manualList = [1, 3]
        lists.didChange(.replacement, valuesAt: [1], for: \.manualList)
        lists.willChange(.removal, valuesAt: [0], for: \.manualList)
        lists.manualList = [3]
        lists.didChange(.removal, valuesAt: [0], for: \.manualList)
      }
      #expect(
        lines == [
          "w insertion ->[1, 2] at [0, 1]", "w replacement [2]>[3] at [1]", "w removal [1]>- at [0]",
        ])
    }

    @Test func `199: A setting announced with indexes is a setting without them`() {
      let lines = delivered("manualList") {
        lists.willChange(.setting, valuesAt: [0], forKey: "manualList")
        lists.manualList = [1]
        lists.didChange(.setting, valuesAt: [0], forKey: "manualList")
      }
      #expect(lines == ["w []>[1]"])
    }

    @Test func `200, 216: An index out of range raises, nobody is notified, and later changes notify`() {
      var raised: [String?] = []
      let lines = delivered {
        raised = faults {
          array.insert(1, at: 7)
          array.remove(at: 3)
          array.replace(at: [5], with: [1])
        }.map(\.exceptionName)
        array.append(40)
      }
      #expect(raised == Array(repeating: "NSRangeException", count: 3))
      #expect(lines == ["w insertion ->[40] at [3]"])
      #expect(lists.list == [10, 20, 30, 40])
    }

    @Test func `201: There is a mutable array proxy for every writable key`() {
      #expect(lists.mutableArrayValue(forKey: "list").count == 3)
      #expect(Array(lists.mutableArrayValue(forKey: "computed", of: Int.self)) == [10, 20, 30])
      #expect(lists.mutableArrayValue(for: \.maybe).count == 0)
    }

    @Test func `204: For a computed property each mutation calls the setter with a changed copy`() {
      lists.mutableArrayValue(forKey: "computed", of: Int.self).append(40)
      #expect(lists.sets == 1 && lists.list == [10, 20, 30, 40])
    }

    @Test func `205: A stored array is mutated in place`() {
      lists.list.reserveCapacity(100)
      let address = { (list: [Int]) in list.withUnsafeBufferPointer { $0.baseAddress } }
      let before = address(lists.list)
      let lines = delivered("list", [.new]) { array.append(40) }
      #expect(address(lists.list) == before && lines.count == 1)
    }

    @Test func `206: A proxy contains the present elements, also after the array was set`() {
      let array = array
      lists.list = [7]
      #expect(Array(array) == [7])
      array.append(8)
      #expect(lists.list == [7, 8])
    }

    @Test func `203, 207, 213: Each mutation is one notification`() {
      #expect(delivered { array.append(1) } == ["w insertion ->[1] at [3]"])
      #expect(delivered { array.insert(2, at: 0) } == ["w insertion ->[2] at [0]"])
      #expect(delivered { array.removeLast() } == ["w removal [1]>- at [4]"])
      #expect(delivered { array.append(contentsOf: [5, 6]) } == ["w insertion ->[5, 6] at [4, 5]"])
      #expect(delivered { array.removeSubrange(1...2) } == ["w removal [10, 20]>- at [1, 2]"])
    }

    @Test func `211: Removing all is one removal`() {
      #expect(delivered { array.removeAll() } == ["w removal [10, 20, 30]>- at [0, 1, 2]"])
    }

    @Test func `212: setArray is a removal and an insertion`() {
      #expect(
        delivered { array.setArray([1, 2]) } == [
          "w removal [10, 20, 30]>- at [0, 1, 2]", "w insertion ->[1, 2] at [0, 1]",
        ])
    }

    @Test func `110: Mutations of a manual key do not notify`() {
      #expect(delivered("manualList") { lists.mutableArrayValue(for: \.manualList).append(1) }.isEmpty)
      #expect(lists.manualList == [1])
    }

    @Test func `214, 215: A proxy notifies while the key is observed, whenever it was created`() {
      let array = array
      #expect(delivered { array.append(1) } == ["w insertion ->[1] at [3]"])
      array.append(2)
      #expect(w.lines.isEmpty)
    }

    @Test func `217, 218, 278: A collection that is nil has count 0, and mutating it raises`() {
      let maybe = lists.mutableArrayValue(for: \.maybe)
      #expect(maybe.count == 0)
      #expect(
        sentences { maybe.append(1) } == [
          "NSInternalInconsistencyException Lists: value for key maybe of object 0xPTR is nil"
        ])
      #expect(lists.maybe == nil)
    }

    @Test func `219, 279: The numbers of elements and indexes have to be equal`() throws {
      let raised = faults { array.insert([1], at: [0, 1]) }
      let text = appleText(try #require(raised.first))
      #expect(text.hasPrefix("NSInvalidArgumentException "))
      #expect(text.hasSuffix(": the counts of the passed-in array (1) and index set (2) must be identical."))
      #expect(lists.list == [10, 20, 30])
    }

    @Test func `221: mutableArrayValue(forKeyPath:) is a proxy of the object at the end of the path`() {
      let owner = Lists()
      owner.owner = lists
      #expect(delivered { owner.mutableArrayValue(forKeyPath: "owner.list", of: Int.self).append(1) }.count == 1)
      #expect(lists.list == [10, 20, 30, 1])
    }

    @Test func `222: Removing an element removes all equal ones, each notifies, the last one first`() {
      lists.list = [1, 2, 1]
      #expect(delivered { array.remove(1) } == ["w removal [1]>- at [2]", "w removal [1]>- at [0]"])
    }

    @Test func `223: Sorting is one replacement of the indexes whose elements differ`() {
      lists.list = [1, 3, 2]
      #expect(delivered { array.sort() } == ["w replacement [3, 2]>[2, 3] at [1, 2]"])
    }

    @Test func `224, 388: Key-value coding and operators work on a proxy`() {
      lists.children = [Lists(), Lists()]
      lists.children[0].list = [1, 2]
      let children = lists.mutableArrayValue(forKey: "children", of: Lists.self)
      #expect(children.value(forKey: "list") as? [[Int]] == [[1, 2], [10, 20, 30]])
      #expect(array.value(forKeyPath: "@sum.self") as? Int == 60)
    }

    @Test func `246: The old and new values of a mutation in place are those before and after it`() {
      #expect(delivered { lists.list.removeFirst() } == ["w [10, 20, 30]>[20, 30]"])
    }

    @Test func `247: Every change of "list.@count" is a setting, with the counts and no indexes`() {
      #expect(delivered("list.@count") { array.append(40) } == ["w 3>4"])
    }

    @Test func `248: A collection at the end of a path keeps kind and indexes; replacing the owner is a setting`() {
      let owner = Lists()
      owner.owner = lists
      owner.add(w, "owner.list")
      array.append(1)
      owner.owner = Lists()
      #expect(w.lines == ["w insertion ->[1] at [3]", "w [10, 20, 30, 1]>[10, 20, 30]"])
      owner.remove(w, "owner.list")
    }

    @Test func `253: A collection that is put onto a path later is a fault at that time`() {
      let box = Coded()
      #expect(codes { box.add(w, "any.int", []) } == [])
      #expect(codes { box.any = [Coded()] } == [18])
      box.any = nil
      box.remove(w, "any.int")
    }
  }
#endif
