// The code of Documentation/Porting.md: collections.
import Foundation
import KeyValueObserving
import Testing

@KeyValueObservable
private final class Album {
  var titles: [String] = []
  var tags: Set<String> = []
  var pages: [Page] = []
  @NotObserved private(set) var lines: [String] = []

  // snippet: accessors
}

@KeyValueObservable
private final class Page {
  var number = 0
}

// snippet: rows

@Suite("The porting guide: collections")
struct GuideCollectionsTests {
  private let album = Album()

  @Test func `A mutable array proxy notifies of each mutation`() {
    let (album, rows) = (album, Rows())
    album.addObserver(rows, forKeyPath: "titles")
    // snippet: mutable array
    #expect(rows.log == ["insert [0]", "insert [0]", "reload [1]", "delete [0, 1]"])
    album.insertTitle("D", at: 0)
    #expect(rows.log.last == "reload all")
    album.removeObserver(rows, forKeyPath: "titles")
  }

  @Test func `Mutations in place are delivered as changes of elements with collectionChanges`() {
    let (album, rows) = (album, Rows())
    // snippet: in place
    #expect(rows.log == ["insert [0]", "insert [0]", "reload [1]", "delete [0, 1]"])
    album.removeObserver(rows, forKeyPath: "titles")
  }

  @Test func `Accessors announce changes of unobserved storage manually`() {
    let rows = Rows()
    album.addObserver(rows, forKeyPath: "lines")
    album.insertLine("x", at: 0)
    #expect(rows.log == ["insert [0]"])
    album.removeObserver(rows, forKeyPath: "lines")
  }

  @Test func `Sets, and observers of elements`() {
    let (album, rows) = (album, Rows())
    album.addObserver(rows, forKeyPath: "tags")
    // snippet: sets
    #expect(rows.log == ["insert []", "insert []"])
    #expect(album.tags == ["live", "2024"])
    album.removeObserver(rows, forKeyPath: "tags")
    // snippet: elements
    #expect(rows.log.last == "reload all" && rows.log.count == 3)
  }

  @Test func `The entries of a dictionary object are observed by key`() {
    let rows = Rows()
    // snippet: dictionary
    #expect(rows.log == ["reload all", "reload all"] && state["volume"] as? Int == 5)
  }
}
