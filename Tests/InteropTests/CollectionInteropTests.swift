// Lists and sets across the border: C sees the elements of Swift's, and Swift those of C's.
#if Macros
  import CKVO
  import CSupport
  import Foundation
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  private final class Track {
    var name: String
    var seconds = 60
    init(_ name: String) { self.name = name }
  }

  @KeyValueObservable
  private final class Playlist {
    var numbers: [Int] = [1, 2]
    var names: [String] = []
    var tracks: [Track] = []
    var tags: Set<String> = []
    var limits: [Double]?
    var mixed: [Any] = [1, "two"]
  }

  private final class ListObserver: KeyValueObserver {
    let lines = Lines()
    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      let kind = (change?[.kindKey] as? UInt) ?? 0
      let indexes = (change?[.indexesKey] as? IndexSet).map(Array.init) ?? []
      lines.add("\(kind) \(indexes) \(change?[.oldKey] ?? "-") \(change?[.newKey] ?? "-")")
    }
  }

  @Suite("Collections between Swift and C")
  struct CollectionInteropTests {
    private let playlist = Playlist()
    private let watcher = CWatcher()
    private let shape = makeShape().object
    private var corners: KeyValueMutableArray<Double> { shape.mutableArrayValue(forKey: "corners", of: Double.self) }
    private var tags: KeyValueMutableSet<String> { shape.mutableSetValue(forKey: "tags", of: String.self) }

    @Test func `C sees the elements of Swift arrays and sets`() {
      #expect(watcher.watch(playlist, "numbers", "names", "tracks", "tags", "limits", "mixed"))
      playlist.numbers = [3]
      playlist.names = ["a", "b"]
      playlist.tracks = [Track("x")]
      playlist.tags = ["t"]
      playlist.limits = [0.5]
      playlist.mixed = [2.5, true]
      #expect(
        watcher.lines == [
          "numbers [q]1,2,>[q]3,", "names [*]>[*]a,b,", "tracks [@]>[@]Track,", "tags <*>><*>t,", "limits nil>[d]0.5,",
          "mixed [?]1,two,>[?]2.5,true,",
        ])
    }

    @Test func `C sees which elements of a Swift array have changed`() {
      #expect(watcher.watch(playlist, "names"))
      let names = playlist.mutableArrayValue(for: \.names)
      names.append("a")
      names.insert("b", at: 0)
      names.remove(at: 1)
      #expect(watcher.lines == ["names ->[*]a,@0", "names ->[*]b,@0", "names [*]a,>-@1"])
    }

    @Test func `C sets Swift arrays from collections of its own, and elements of another type are refused`() {
      corners.append(1.5)
      corners.append(2)
      func set(_ key: String) -> kvo_status {
        csupport_copy_value(shape.pointer, "corners", playlist.keyValueObject, key)
      }
      #expect(set("limits") == KVO_OK && playlist.limits == [1.5, 2])
      #expect(set("names") == KVO_ERROR_TYPE_MISMATCH && playlist.names == [])
      #expect(set("tags") == KVO_ERROR_TYPE_MISMATCH && playlist.tags == [])
    }

    @Test func `Swift reads the lists and sets of a C object, also with operators`() throws {
      let part = makeShape().object
      try part.setValue(Int32(4), forKey: "count")
      for corner in [1.0, 2, 3] { corners.append(corner) }
      shape.mutableArrayValue(forKey: "parts", of: KeyValueRuntimeObject.self).append(part)
      tags.insert("red")
      #expect(try shape.value(forKey: "corners", as: [Double].self) == [1, 2, 3])
      #expect(try shape.value(forKey: "tags", as: Set<String>.self) == ["red"])
      #expect(shape.value(forKeyPath: "corners.@sum.self") as? Double == 6)
      #expect(shape.value(forKeyPath: "corners.@count") as? Int == 3)
      #expect((shape.value(forKeyPath: "parts.count") as? [Any])?.first as? Int32 == 4)
    }

    @Test func `Swift observes a list of a C object with kinds, indexes and elements`() {
      let observer = ListObserver()
      shape.addObserver(observer, forKeyPath: "corners", options: [.old, .new], context: nil)
      let corners = corners
      corners.append(1)
      corners.insert(2, at: 0)
      corners[1] = 5
      corners.remove(at: 0)
      shape.removeObserver(observer, forKeyPath: "corners", context: nil)
      #expect(observer.lines.all == ["2 [0] - [1.0]", "2 [0] - [2.0]", "4 [1] [1.0] [5.0]", "3 [0] [2.0] -"])
      #expect(Array(corners) == [5])
    }

    @Test func `An index outside of a list of a C object is a fault, and changes nothing`() {
      let corners = corners
      corners.append(1)
      let edits: [() -> Void] = [
        { corners.insert(2, at: 2) }, { corners.remove(at: 1) }, { corners.replace(at: [0, 1], with: [3, 4]) },
      ]
      let raised = edits.flatMap { faults($0) }
      #expect(raised.map(\.code) == [37, 37, 37])
      #expect(raised.allSatisfy { $0.summary.contains("has 1 element") && !$0.summary.contains("1 elements") })
      #expect(Array(corners) == [1])
    }

    @Test func `Members are added to and removed from a set of a C object`() {
      for tag in ["a", "b", "a"] { tags.insert(tag) }
      #expect(Set(tags) == ["a", "b"])
      tags.remove("a")
      #expect(tags.count == 1 && tags.contains("b"))
      tags.removeAll()
      #expect(tags.isEmpty)
    }

    @Test func `A set of a C object that refuses a member is a fault, and the mutation ends`() {
      tags.formUnion((1...16).map { "tag \($0)" })  // as many as there is room for
      #expect(tags.count == 16)
      var isInserted = true
      #expect(faults { isInserted = tags.insert("more").inserted }.map(\.code) == [26])
      #expect(!isInserted)
      #expect(faults { tags.formUnion(["more", "and more"]) }.map(\.code) == [26])
      #expect(tags.count == 16 && !tags.contains("more"))
    }

    @Test func `A list of a C object that holds another type is the fault of the access, and ends the process`() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        writeFaultCodes()
        let shape = makeShape().object
        shape.mutableArrayValue(forKey: "corners", of: Double.self).append(1)
        _ = shape.mutableArrayValue(forKey: "corners", of: String.self)[0]
      }
      #expect(hasFault(26, result))
    }
  }
#endif
