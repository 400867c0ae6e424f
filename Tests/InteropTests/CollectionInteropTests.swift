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

  @Suite("Collections between Swift and C")
  struct CollectionInteropTests {
    private final class WatcherMemory {
      let watcher = UnsafeMutablePointer<csupport_watcher>.allocate(capacity: 1)
      init() { watcher.initialize(to: csupport_watcher()) }
      deinit { watcher.deallocate() }
    }

    private let playlist = Playlist()
    private let memory = WatcherMemory()

    private var lines: [String] {
      withUnsafeBytes(of: memory.watcher.pointee.text) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        .split(separator: ";").map(String.init)
    }

    private func shape() -> KeyValueRuntimeObject {
      KeyValueRuntimeObject(
        borrowing: UnsafeMutableRawPointer(csupport_shape_create()).assumingMemoryBound(to: kvo_object.self))
    }

    @Test func `C sees the elements of Swift arrays and sets`() {
      for key in ["numbers", "names", "tracks", "tags", "limits", "mixed"] {
        #expect(csupport_watch(memory.watcher, playlist.keyValueObject, key) == KVO_OK)
      }
      playlist.numbers = [3]
      playlist.names = ["a", "b"]
      playlist.tracks = [Track("x")]
      playlist.tags = ["t"]
      playlist.limits = [0.5]
      playlist.mixed = [2.5, true]
      #expect(
        lines == [
          "numbers [q]1,2,>[q]3,", "names [*]>[*]a,b,", "tracks [@]>[@]Track,", "tags <*>><*>t,", "limits nil>[d]0.5,",
          "mixed [?]1,two,>[?]2.5,true,",
        ])
    }

    @Test func `C sees which elements of a Swift array have changed`() {
      #expect(csupport_watch(memory.watcher, playlist.keyValueObject, "names") == KVO_OK)
      let names = playlist.mutableArrayValue(for: \.names)
      names.append("a")
      names.insert("b", at: 0)
      names.remove(at: 1)
      #expect(lines == ["names ->[*]a,@0", "names ->[*]b,@0", "names [*]a,>-@1"])
    }

    @Test func `C sets Swift arrays from collections of its own, and elements of another type are refused`() {
      let shape = shape()
      let corners = shape.mutableArrayValue(forKey: "corners", of: Double.self)
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
      let (shape, part) = (shape(), shape())
      try part.setValue(Int32(4), forKey: "count")
      for corner in [1.0, 2, 3] { shape.mutableArrayValue(forKey: "corners", of: Double.self).append(corner) }
      shape.mutableArrayValue(forKey: "parts", of: KeyValueRuntimeObject.self).append(part)
      shape.mutableSetValue(forKey: "tags", of: String.self).insert("red")
      #expect(try shape.value(forKey: "corners", as: [Double].self) == [1, 2, 3])
      #expect(try shape.value(forKey: "tags", as: Set<String>.self) == ["red"])
      #expect(shape.value(forKeyPath: "corners.@sum.self") as? Double == 6)
      #expect(shape.value(forKeyPath: "corners.@count") as? Int == 3)
      #expect((shape.value(forKeyPath: "parts.count") as? [Any])?.first as? Int32 == 4)
    }

    @Test func `Swift observes a list of a C object with kinds, indexes and elements`() {
      let shape = shape()
      let log = Lines()
      final class Observer: KeyValueObserver {
        let log: Lines
        init(_ log: Lines) { self.log = log }
        func observeValue(
          forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
          context: UnsafeMutableRawPointer?
        ) {
          let kind = (change?[.kindKey] as? UInt) ?? 0
          let indexes = (change?[.indexesKey] as? IndexSet).map(Array.init) ?? []
          log.add("\(kind) \(indexes) \(change?[.oldKey] ?? "-") \(change?[.newKey] ?? "-")")
        }
      }
      let observer = Observer(log)
      shape.addObserver(observer, forKeyPath: "corners", options: [.old, .new], context: nil)
      let corners = shape.mutableArrayValue(forKey: "corners", of: Double.self)
      corners.append(1)
      corners.insert(2, at: 0)
      corners[1] = 5
      corners.remove(at: 0)
      shape.removeObserver(observer, forKeyPath: "corners", context: nil)
      #expect(log.all == ["2 [0] - [1.0]", "2 [0] - [2.0]", "4 [1] [1.0] [5.0]", "3 [0] [2.0] -"])
      #expect(Array(corners) == [5])
    }

    @Test func `An index outside of a list of a C object is a fault, and changes nothing`() {
      let corners = shape().mutableArrayValue(forKey: "corners", of: Double.self)
      corners.append(1)
      let codes = Lines()
      let edits: [() -> Void] = [
        { corners.insert(2, at: 2) }, { corners.remove(at: 1) }, { corners.replace(at: [0, 1], with: [3, 4]) },
      ]
      for edit in edits {
        KeyValueFault.withHandler { fault in
          codes.add("\(fault.code) \(fault.summary.contains("has 1 element") && !fault.summary.contains("1 elements"))")
          return .ignore
        } in: {
          edit()
        }
      }
      #expect(codes.all == Array(repeating: "37 true", count: 3))
      #expect(Array(corners) == [1])
    }

    @Test func `Members are added to and removed from a set of a C object`() {
      let shape = shape()
      let tags = shape.mutableSetValue(forKey: "tags", of: String.self)
      tags.insert("a")
      tags.insert("b")
      tags.insert("a")
      #expect(tags.count == 2 && tags.contains("b"))
      tags.remove("a")
      #expect(Set(tags) == ["b"])
      tags.removeAll()
      #expect(tags.isEmpty)
    }
  }
#endif
