// A ported program: a table that is updated from an array row by row, by the kinds and indexes of changes.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  private final class Song {
    var title: String
    var isPlaying = false
    init(_ title: String) { self.title = title }
  }

  @KeyValueObservable
  private final class Playlist {
    var name = ""
    var songs: [Song] = []
  }

  /// Replaces UITableView, and checks as strictly that updates are consistent with the rows.
  private final class Table {
    private(set) var rows: [String] = []
    private(set) var log: [String] = []

    func reloadData(_ titles: [String]) {
      rows = titles
      log.append("reload")
    }

    func insertRows(at positions: IndexSet, _ titles: [String]) {
      precondition(positions.count == titles.count)
      for (position, title) in zip(positions, titles) { rows.insert(title, at: position) }
      log.append("insert \(Array(positions))")
    }

    func deleteRows(at positions: IndexSet) {
      for position in positions.reversed() { rows.remove(at: position) }
      log.append("delete \(Array(positions))")
    }

    func reloadRows(at positions: IndexSet, _ titles: [String]) {
      for (position, title) in zip(positions, titles) { rows[position] = title }
      log.append("reload \(Array(positions))")
    }
  }

  nonisolated(unsafe) private let songsContext = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)

  /// The original: observes the array and updates the table.
  private final class PlaylistController: KeyValueObserver {
    let playlist: Playlist
    let table = Table()

    init(_ playlist: Playlist, options: NSKeyValueObservingOptions = []) {
      self.playlist = playlist
      playlist.addObserver(
        self, forKeyPath: "songs", options: options.union([.initial, .old, .new]), context: songsContext)
    }

    deinit { playlist.removeObserver(self, forKeyPath: "songs", context: songsContext) }

    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      guard context == songsContext, let change else { return }
      let positions = change[.indexesKey] as? IndexSet ?? []
      let titles = (change[.newKey] as? [Song] ?? []).map(\.title)
      switch (change[.kindKey] as? UInt).flatMap(NSKeyValueChange.init) {
      case .insertion: table.insertRows(at: positions, titles)
      case .removal: table.deleteRows(at: positions)
      case .replacement: table.reloadRows(at: positions, titles)
      case .setting, nil: table.reloadData(titles)
      }
    }
  }

  @Suite("A ported program: a table that follows an array")
  struct TableModelTests {
    private let playlist = Playlist()

    private func expectSame(_ table: Table) { #expect(table.rows == playlist.songs.map(\.title)) }

    @Test func `Mutations through mutableArrayValue update the table row by row`() {
      playlist.songs = [Song("a"), Song("b")]
      let controller = PlaylistController(playlist)
      let songs = playlist.mutableArrayValue(forKey: "songs", of: Song.self)
      songs.append(Song("c"))
      songs.insert(Song("d"), at: 0)
      songs.remove(at: [1, 3])
      songs[0] = Song("e")
      expectSame(controller.table)
      #expect(controller.table.log == ["reload", "insert [2]", "insert [0]", "delete [1, 3]", "reload [0]"])
      playlist.songs = []
      #expect(controller.table.log.last == "reload" && controller.table.rows.isEmpty)
    }

    @Test func `With collectionChanges mutations of the property itself do so too`() {
      let controller = PlaylistController(playlist, options: .collectionChanges)
      playlist.songs.append(contentsOf: [Song("a"), Song("b"), Song("c")])
      playlist.songs.remove(at: 1)
      playlist.songs.swapAt(0, 1)
      playlist.songs = playlist.songs + [Song("d")]
      expectSame(controller.table)
      #expect(controller.table.log == ["reload", "insert [0, 1, 2]", "delete [1]", "reload [0, 1]", "insert [2]"])
    }
  }
#endif
