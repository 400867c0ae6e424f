// Pages about delivery: KVO0022 to KVO0024, KVO0027.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  // page: KVO0022 example class
  class Sidebar: KeyValueObject {
    override func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      if keyPath == "subtitle" {  // the key path is another one since
        print("show it")
      } else {
        super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
      }
    }
  }
  // page end

  // page: KVO0022 remedy class
  class Toolbar: KeyValueObject {
    nonisolated(unsafe) static let context = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)

    override func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      guard context == Toolbar.context else {  // all that this class registers has this context
        return super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
      }
      print("show it")
    }
  }
  // page end

  extension PageTests {
    @Test func `The examples about delivery raise their faults, and the remedies raise nothing`() {
      page(22) {
        let sidebar = Sidebar()
        // page: KVO0022 example
        let document = Document()
        document.addObserver(sidebar, forKeyPath: "title")
        document.title = "Emma"
        // page end
        document.removeObserver(sidebar, forKeyPath: "title")
      } remedy: {
        let toolbar = Toolbar()
        // page: KVO0022 remedy
        let document = Document()
        document.addObserver(toolbar, forKeyPath: "title", context: Toolbar.context)
        document.title = "Emma"
        // page end
        document.removeObserver(toolbar, forKeyPath: "title", context: Toolbar.context)
      }

      page(23) {
        // page: KVO0023 example
        let document = Document()
        let token = document.observe(\.pages) { document, _ in
          document.pages += 1  // a change, which calls this closure, which makes a change, …
        }
        document.pages = 1
        // page end
        token.invalidate()
      } remedy: {
        // page: KVO0023 remedy
        let document = Document()
        let token = document.observe(\.pages) { document, _ in
          if document.pages % 2 != 0 { document.pages += 1 }  // only as long as there is something to mend
        }
        document.pages = 1
        // page end
        token.invalidate()
      }

      page(24) {
        // page: KVO0024 example
        let (document, author) = (Document(), Author())
        let down = document.observe(\.pages, options: .new) { document, _ in author.books = document.pages + 1 }
        let up = author.observe(\.books, options: .new) { author, _ in document.pages = min(author.books, 9) }
        document.pages = 9  // sets books to 10, which sets pages to 9, which sets books to 10, …
        // page end
        down.invalidate()
        up.invalidate()
      } remedy: {
        // page: KVO0024 remedy
        let (document, author) = (Document(), Author())
        let down = document.observe(\.pages) { document, _ in
          if author.books != document.pages { author.books = document.pages }
        }
        let up = author.observe(\.books) { author, _ in
          if document.pages != author.books { document.pages = author.books }
        }
        document.pages = 1  // both are 1: nothing is left to set
        // page end
        down.invalidate()
        up.invalidate()
      }
    }

    @Test func `KVO0027: the page's example compiles`() {
      do {
        // page: KVO0027 example
        let document = Document()
        let token = document.observe(\.title) { _, _ in
          Thread.sleep(forTimeInterval: 0.05)  // stands for work; the setter waits for it
        }
        document.title = "Emma"
        // page end
        token.invalidate()
      }
      do {
        // page: KVO0027 remedy
        let document = Document()
        let work = DispatchQueue(label: "work")
        let token = document.observe(\.title, options: [.new]) { _, change in
          let title = change.newValue ?? ""
          work.async { print(title.count) }  // with a copy of what it needs
        }
        document.title = "Emma"
        // page end
        token.invalidate()
      }
    }
  }
#endif
