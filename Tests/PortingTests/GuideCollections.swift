// The code of Documentation/Porting.md: collections.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  private final class Album {
    var titles: [String] = []
    var tags: Set<String> = []
    var pages: [Page] = []
    @NotObserved private(set) var lines: [String] = []

    // guide: accessors
    func insertTitle(_ title: String, at index: Int) {
      titles.insert(title, at: index)
    }

    func insertLine(_ line: String, at index: Int) {
      let indexes = IndexSet(integer: index)
      willChange(.insertion, valuesAt: indexes, for: \.lines)
      lines.insert(line, at: index)
      didChange(.insertion, valuesAt: indexes, for: \.lines)
    }
    // guide end
  }

  @KeyValueObservable
  private final class Page {
    var number = 0
  }

  // guide: rows
  final class Rows: KeyValueObserver {
    var log: [String] = []

    func observeValue(
      forKeyPath keyPath: String?,
      of object: Any?,
      change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      let kind = (change?[.kindKey] as? UInt)
        .flatMap(NSKeyValueChange.init(rawValue:))
      let rows = change?[.indexesKey] as? IndexSet ?? []
      switch kind {
      case .insertion: log.append("insert \(Array(rows))")
      case .removal: log.append("delete \(Array(rows))")
      case .replacement: log.append("reload \(Array(rows))")
      default: log.append("reload all")
      }
    }
  }
  // guide end

  @Suite("The porting guide: collections")
  struct GuideCollectionsTests {
    private let album = Album()

    @Test func `A mutable array of a key tells each mutation`() {
      let (album, rows) = (album, Rows())
      album.addObserver(rows, forKeyPath: "titles")
      // guide: mutable array
      let titles = album.mutableArrayValue(
        forKey: "titles", of: String.self)
      titles.append("A")
      titles.insert("B", at: 0)
      titles[1] = "C"
      titles.remove(at: IndexSet([0, 1]))
      // guide end
      #expect(rows.log == ["insert [0]", "insert [0]", "reload [1]", "delete [0, 1]"])
      album.insertTitle("D", at: 0)
      #expect(rows.log.last == "reload all")
      album.removeObserver(rows, forKeyPath: "titles")
    }

    @Test func `Mutations in place are told as such to those who ask`() {
      let (album, rows) = (album, Rows())
      // guide: in place
      album.addObserver(
        rows, forKeyPath: "titles",
        options: [.new, .collectionChanges])
      album.titles.append("A")
      album.titles.insert("B", at: 0)
      album.titles = ["B", "C"]
      album.titles.removeAll()
      // guide end
      #expect(rows.log == ["insert [0]", "insert [0]", "reload [1]", "delete [0, 1]"])
      album.removeObserver(rows, forKeyPath: "titles")
    }

    @Test func `Accessors announce by hand what they do to storage that is not observed`() {
      let rows = Rows()
      album.addObserver(rows, forKeyPath: "lines")
      album.insertLine("x", at: 0)
      #expect(rows.log == ["insert [0]"])
      album.removeObserver(rows, forKeyPath: "lines")
    }

    @Test func `Sets and elements`() {
      let (album, rows) = (album, Rows())
      album.addObserver(rows, forKeyPath: "tags")
      // guide: sets
      let tags = album.mutableSetValue(
        forKey: "tags", of: String.self)
      tags.insert("live")
      tags.formUnion(["2024", "live"])
      // guide end
      #expect(rows.log == ["insert []", "insert []"])
      #expect(album.tags == ["live", "2024"])
      album.removeObserver(rows, forKeyPath: "tags")
      // guide: elements
      album.pages = [Page(), Page()]
      album.pages.addObserver(
        rows, toObjectsAt: IndexSet([0, 1]),
        forKeyPath: "number", options: [.new])
      album.pages[1].number = 2
      album.pages.removeObserver(
        rows, fromObjectsAt: IndexSet([0, 1]),
        forKeyPath: "number")
      // guide end
      #expect(rows.log.last == "reload all" && rows.log.count == 3)
    }
  }
#endif
