// The program of the tutorial TableModel, with all its steps: Tests/Tutorials/README.md says how they are marked.
import KeyValueObserving

@KeyValueObservable
final class Book {
  var title: String
  var pages: Int

  init(_ title: String, pages: Int) {
    self.title = title
    self.pages = pages
  }
}

@KeyValueObservable
final class Shelf {
  var books: [Book] = []
  // from 5
  var total: Int { books.reduce(0) { $0 + $1.pages } }
  // end
}
// from 4

final class Row {
  private(set) var text = ""

  init(_ book: Book) {
    book.onChange(of: \.title, initial: true, for: self) { me, _, title in me.text = title }
  }
}
// end
// from 2

final class Table {
  // from 2 until 4
  private(set) var rows: [String] = []
  // from 4
  private(set) var rows: [Row] = []
  // from 5
  private(set) var footer = ""
  // from 2

  func show(_ shelf: Shelf) {
    // from 2 until 3
    shelf.observe(\.books, options: [.initial], for: self) { me, shelf, _ in
      me.rows = shelf.books.map(\.title)
    }
    // from 3
    shelf.observe(\.books, options: [.initial, .new, .collectionChanges], for: self) { me, shelf, change in
      me.update(change)
    }
    // from 5
    shelf.onChange(of: \.total, initial: true, for: self) { me, _, total in me.footer = "\(total) pages" }
    // from 2
  }
  // from 3

  private func update(_ change: NSKeyValueObservedChange<[Book]>) {
    let books = change.newValue ?? []
    // from 3 until 4
    let new = books.map(\.title)
    // from 4
    let new = books.map(Row.init)
    // from 3
    switch change.kind {
    case .setting: rows = new
    case .insertion: for (index, row) in zip(change.indexes!, new) { rows.insert(row, at: index) }
    case .removal: for index in change.indexes!.reversed() { rows.remove(at: index) }
    case .replacement: for (index, row) in zip(change.indexes!, new) { rows[index] = row }
    }
    print(change.kind, Array(change.indexes ?? []))
  }
  // from 2
}
// end

let shelf = Shelf()
shelf.books = [Book("Emma", pages: 474)]
// from 2
let table = Table()
// end
// from 2 until 3
table.show(shelf)
shelf.books.append(Book("Persuasion", pages: 249))
print(table.rows)  // prints: ["Emma", "Persuasion"]
// from 3
table.show(shelf)  // prints: setting []
shelf.books.append(Book("Persuasion", pages: 249))  // prints: insertion [1]
shelf.books.remove(at: 0)  // prints: removal [0]
// from 3 until 4
print(table.rows)  // prints: ["Persuasion"]
// from 4
shelf.books[0].title = "Sanditon"
print(table.rows.map(\.text))  // prints: ["Sanditon"]
// from 5
shelf.books[0].pages = 100
print(table.footer)  // prints: 100 pages
