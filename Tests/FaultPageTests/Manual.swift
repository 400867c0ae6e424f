// Pages about manual notification: KVO0028 to KVO0033.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  // page: KVO0032 example class
  @KeyValueObservable
  class Book {
    var author: Author? = Author()
    class func automaticallyNotifiesObserversOfAuthor() -> Bool { false }

    func publish(by author: Author) {
      willChangeValue(forKey: "author")
      self.author = author
      didChangeValue(forKey: "author")
    }
  }
  // page end

  extension PageTests {
    @Test func `The examples about manual notification raise their faults, and the remedies raise nothing`() {
      page(28) {
        // page: KVO0028 example
        let document = Document()
        document.addObserver(panel, forKeyPath: "draft")
        document.draft = 1
        document.didChangeValue(forKey: "draft")  // there was no willChangeValue(forKey:)
        // page end
        document.removeObserver(panel, forKeyPath: "draft")
      } remedy: {
        // page: KVO0028 remedy
        let document = Document()
        document.addObserver(panel, forKeyPath: "draft")
        document.willChangeValue(forKey: "draft")
        document.draft = 1
        document.didChangeValue(forKey: "draft")
        // page end
        document.removeObserver(panel, forKeyPath: "draft")
      }

      var token: NSKeyValueObservation?
      defer { token?.invalidate() }
      page(29) {
        // page: KVO0029 example
        do {
          let document = Document()
          token = document.observe(\.draft) { _, _ in print("changed") }
          document.willChangeValue(forKey: "draft")
          document.draft = 1
        }  // the document dies, and the change was never finished
        // page end
      } remedy: {
        // page: KVO0029 remedy
        let document = Document()
        document.addObserver(panel, forKeyPath: "draft")
        do {
          document.willChangeValue(forKey: "draft")
          defer { document.didChangeValue(forKey: "draft") }  // also where the block is left early
          document.draft = 1
        }
        document.removeObserver(panel, forKeyPath: "draft")
        // page end
      }

      page(30) {
        // page: KVO0030 example
        let document = Document()
        document.addObserver(panel, forKeyPath: "draft")
        document.willChangeValue(forKey: "draft")
        onAnotherThread {
          document.draft = 1
          document.didChangeValue(forKey: "draft")  // begun elsewhere
        }
        document.didChangeValue(forKey: "draft")
        // page end
        document.removeObserver(panel, forKeyPath: "draft")
      } remedy: {
        // page: KVO0030 remedy
        let document = Document()
        document.addObserver(panel, forKeyPath: "draft")
        onAnotherThread {
          document.willChangeValue(forKey: "draft")
          document.draft = 1
          document.didChangeValue(forKey: "draft")
        }
        // page end
        document.removeObserver(panel, forKeyPath: "draft")
      }

      page(31) {
        // page: KVO0031 example
        let document = Document()
        document.addObserver(panel, forKeyPath: "title")
        document.willChangeValue(forKey: "title")
        document.title = "Emma"  // announces itself
        document.didChangeValue(forKey: "title")  // the panel is called a second time
        // page end
        document.removeObserver(panel, forKeyPath: "title")
      } remedy: {
        // page: KVO0031 remedy
        let document = Document()
        document.addObserver(panel, forKeyPath: "title")
        document.title = "Emma"
        // page end
        document.removeObserver(panel, forKeyPath: "title")
      }

      page(32) {
        // page: KVO0032 example
        let book = Book()
        let first = Author()
        book.publish(by: first)
        book.addObserver(panel, forKeyPath: "author.name", options: [.old, .new])
        book.author = Author()  // not announced: the observation still watches the first author
        book.publish(by: first)
        // page end
        book.removeObserver(panel, forKeyPath: "author.name")
      } remedy: {
        let book = Book()
        book.addObserver(panel, forKeyPath: "author.name", options: [.old, .new])
        // page: KVO0032 remedy
        book.publish(by: Author())  // each replacement is announced
        book.publish(by: Author())
        // page end
        book.removeObserver(panel, forKeyPath: "author.name")
      }

      page(33) {
        // page: KVO0033 example
        let document = Document()
        document.addObserver(panel, forKeyPath: "chapters")
        document.willChange(.removal, valuesAt: [3], forKey: "chapters")  // there are no chapters
        document.didChange(.removal, valuesAt: [3], forKey: "chapters")
        // page end
        document.removeObserver(panel, forKeyPath: "chapters")
      } remedy: {
        // page: KVO0033 remedy
        let document = Document()
        document.addObserver(panel, forKeyPath: "chapters")
        document.mutableArrayValue(for: \.chapters).append(Chapter())  // announces the right indexes itself
        // page end
        document.removeObserver(panel, forKeyPath: "chapters")
      }
    }
  }
#endif
