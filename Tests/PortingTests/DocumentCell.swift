// A ported program: a table cell that shows a document's title and is reused for another document.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  private final class TextDocument {
    var title: String
    var isFavorite = false
    init(title: String) { self.title = title }
  }

  nonisolated(unsafe) private let cellContext = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)

  /// The original: observations follow the property, the last one ends with the cell.
  private final class DocumentCell: KeyValueObserver {
    private(set) var label = ""
    private(set) var star = false

    var document: TextDocument? {
      willSet { stopObserving() }
      didSet { startObserving() }
    }

    deinit { stopObserving() }

    func prepareForReuse() { document = nil }

    private func startObserving() {
      document?.addObserver(self, forKeyPath: "title", options: [.initial, .new], context: cellContext)
      document?.addObserver(self, forKeyPath: "isFavorite", options: [.initial, .new], context: cellContext)
    }

    private func stopObserving() {
      document?.removeObserver(self, forKeyPath: "title", context: cellContext)
      document?.removeObserver(self, forKeyPath: "isFavorite", context: cellContext)
    }

    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      guard context == cellContext, (object as? TextDocument) === document else { return }
      if keyPath == "title" { label = change?[.newKey] as? String ?? "" }
      if keyPath == "isFavorite" { star = change?[.newKey] as? Bool ?? false }
    }
  }

  /// The same cell with tokens: replacing a token ends the previous observation, and so does the deallocation of the cell.
  private final class TokenCell: @unchecked Sendable {
    private(set) var label = ""
    private var observation: NSKeyValueObservation?

    var document: TextDocument? {
      didSet {
        observation = document?.observe(\.title, options: [.initial, .new]) { [weak self] _, change in
          self?.label = change.newValue ?? ""
        }
      }
    }
  }

  @Suite("A ported program: a cell that is reused")
  struct DocumentCellTests {
    private let first = TextDocument(title: "First")
    private let second = TextDocument(title: "Second")

    @Test func `The cell observes its document, and after reuse only the other one`() {
      let cell = DocumentCell()
      cell.document = first
      #expect(cell.label == "First" && !cell.star)
      first.title = "Renamed"
      first.isFavorite = true
      #expect(cell.label == "Renamed" && cell.star)
      cell.prepareForReuse()
      cell.document = second
      #expect(cell.label == "Second" && !cell.star)
      first.title = "Unseen"
      second.title = "Seen"
      #expect(cell.label == "Seen")
      #expect(first.observationInfo == nil && second.observationInfo != nil)
    }

    @Test func `The deallocation of the cell ends its observations`() {
      do {
        let cell = DocumentCell()
        cell.document = first
      }
      #expect(first.observationInfo == nil)
      first.title = "Unseen"
    }

    @Test func `With a token the cell needs neither reuse nor deinit to end its observation`() {
      do {
        let cell = TokenCell()
        cell.document = first
        first.title = "Token"
        #expect(cell.label == "Token")
        cell.document = second
        first.title = "Unseen"
        #expect(cell.label == "Second")
        #expect(first.observationInfo == nil)
      }
      #expect(second.observationInfo == nil)
    }
  }
#endif
