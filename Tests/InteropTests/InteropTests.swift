// One registry for both languages: C observes, reads and sets Swift objects; Swift observes C objects.
#if Macros
  import CKVO
  import CSupport
  import Foundation
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  private final class Song {
    var title = "t"
    var plays = 1
    var rating: Double? = nil
    var isLiked = false
    var album: Album?
    var tags: [String] = []
    var length: Int { plays * 2 }
    let id = 7
  }

  @KeyValueObservable
  private final class Album {
    var name: String
    init(name: String) { self.name = name }
  }

  @Suite("Swift objects in C")
  struct SwiftFromCTests {
    // In this order, because the song's deallocation uses the memory of its C observers.
    private let song = Song()
    private let watcher = CWatcher()

    private var object: KeyValueObjectReference { song.__keyValueObject }

    /// Registers the class with the runtime by observing an object.
    private func introduce() -> NSKeyValueObservation { song.observe(\.id) { _, _ in } }

    @Test func `A C program observes properties, paths and computed properties of Swift objects, with typed values`() {
      let token = introduce()
      #expect(watcher.watch(song, "title", "plays", "rating", "isLiked", "album.name", "length"))
      song.title = "u"
      song.rating = 2.5
      song.rating = nil
      song.isLiked = true
      song.album = Album(name: "a")
      song.album?.name = "b"
      song.album = nil
      #expect(
        watcher.lines == [
          "title t>u", "rating nil>2.5", "rating 2.5>nil", "isLiked false>true", "album.name nil>a", "album.name a>b",
          "album.name b>nil",
        ])
      song.plays += 1
      #expect(Set(watcher.lines.dropFirst(7)) == ["plays 1>2", "length 2>4"])
      token.invalidate()
    }

    @Test func `A C program reads and sets a Swift object, and observers are notified`() {
      let token = introduce()
      let lines = Lines()
      let log = song.observe(\.title, options: [.new]) { lines.add($1.newValue ?? "-") }
      "from C".withCString { text in
        withUnsafePointer(to: text) { bytes in
          "*".withCString { type in
            var value = kvo_value(type: type, size: MemoryLayout<UnsafePointer<CChar>>.size, bytes: bytes)
            #expect(kvo_set_value(object, "title", &value) == KVO_OK)
            #expect(kvo_set_value(object, "plays", &value) == KVO_ERROR_TYPE_MISMATCH)
            #expect(kvo_set_value(object, "id", &value) == KVO_ERROR_READ_ONLY)
            #expect(kvo_set_value(object, "nothing", &value) == KVO_ERROR_UNDEFINED_KEY)
          }
        }
      }
      #expect(song.title == "from C" && lines.all == ["from C"])
      var read = 0
      let status = kvo_get_value(
        object, "plays", { $1!.storeBytes(of: $0.pointee.bytes!.load(as: Int.self), as: Int.self) }, &read)
      #expect(status == KVO_OK)
      #expect(read == 1)
      withExtendedLifetime((token, log)) {}
    }

    @Test func `The observation ends with the Swift object, and its user data is destroyed once`() {
      do {
        let song = Song()
        let token = song.observe(\.title) { _, _ in }
        #expect(watcher.watch(song, "title"))
        token.invalidate()
      }
      #expect(watcher.destroyed == 1)
    }
  }

  @Suite("C objects in Swift")
  struct CFromSwiftTests {
    @Test func `A Swift program observes a C object that C code sets`() throws {
      let (object, shape) = makeShape()
      defer { kvo_object_destroy(UnsafeMutableRawPointer(shape).assumingMemoryBound(to: kvo_object.self)) }
      let log = Lines()
      let tokens = [
        object.observe(\.count, options: [.old, .new]) { (_, change: NSKeyValueObservedChange<Int32>) in
          log.add("count \(change.oldValue!)>\(change.newValue!)")
        },
        object.observe(\.rect, options: [.old, .new]) { (_, change: NSKeyValueObservedChange<csupport_rect>) in
          log.add("rect \(change.oldValue!.width)>\(change.newValue!.width)")
        },
        object.observe(\.name, options: [.new]) { (_, change: NSKeyValueObservedChange<String>) in
          log.add("name \(change.newValue!)")
        },
      ]
      csupport_shape_set_count(shape, 3)
      csupport_shape_set_rect(shape, csupport_rect(x: 0, y: 0, width: 2, height: 1))
      object.name = "box"
      #expect(log.all == ["count 0>3", "rect 0.0>2.0", "name box"])
      #expect(object.count == Int32(3))
      withExtendedLifetime(tokens) {}
    }

    @Test func `The classic callback works on C objects, and paths lead through them`() throws {
      let (object, shape) = makeShape()
      let (next, nextShape) = makeShape()
      let watcher = DictionaryWatcher()
      object.addObserver(watcher, forKeyPath: "count", options: [.old, .new])
      object.addObserver(watcher, forKeyPath: "next.count", options: [.old, .new])
      csupport_shape_set_count(shape, 1)
      object.next = next
      csupport_shape_set_count(nextShape, 5)
      object.removeObserver(watcher, forKeyPath: "count")
      object.removeObserver(watcher, forKeyPath: "next.count")
      #expect(watcher.lines.all == ["count 0>1", "next.count <null>>0", "next.count 0>5"])
    }
  }

  private final class DictionaryWatcher: KeyValueObserver {
    let lines = Lines()
    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      lines.add("\(keyPath!) \(change![.oldKey]!)>\(change![.newKey]!)")
    }
  }
#endif
