// Pages about lifetimes: KVO0001 to KVO0007, KVO0014, KVO0015.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  /// The object that the closure on KVO0014's page captures.
  private final class Holder: @unchecked Sendable {
    var token: NSKeyValueObservation?
    var document: Document?
  }

  extension PageTests {
    @Test func `The examples about lifetimes raise their faults, and the remedies raise nothing`() {
      page(1) {
        // page: KVO0001 example
        let panel = Panel()
        do {
          let document = Document()
          document.addObserver(panel, forKeyPath: "title", options: [.new])
        }  // the document dies here; nobody has removed the panel
        // page end
        withExtendedLifetime(panel) {}
      } remedy: {
        // page: KVO0001 remedy
        let document = Document()
        let token = document.observe(\.title, options: [.new]) { document, change in
          print(change.newValue ?? "-")
        }
        // The observation ends with the token or the document, whichever dies first.
        // page end
        withExtendedLifetime(token) {}

        // page: KVO0001 remedy classic
        let panel = Panel()
        do {
          let document = Document()
          document.addObserver(panel, forKeyPath: "title", options: [.new])
          document.removeObserver(panel, forKeyPath: "title")  // by whoever added it, before the document dies
        }
        // page end
      }

      page(4) {
        // page: KVO0004 example
        let document = Document()
        do {
          let panel = Panel()
          document.addObserver(panel, forKeyPath: "title", options: [.new])
        }  // the panel dies here, and its observation stays
        document.title = "Emma"
        // page end
      } remedy: {
        // page: KVO0004 remedy
        final class Sidebar: Panel {
          let document: Document
          init(of document: Document) {
            self.document = document
            super.init()
            document.addObserver(self, forKeyPath: "title", options: [.new])
          }
          deinit { document.removeObserver(self, forKeyPath: "title") }
        }
        // page end
        let document = Document()
        do { _ = Sidebar(of: document) }
        document.title = "Emma"
      }
    }

    @Test func `KVO0014 and KVO0015: the pages' examples compile`() {
      do {
        // page: KVO0015 example
        let document = Document()
        _ = document.observe(\.title, options: [.new]) { _, change in print(change.newValue ?? "-") }
        document.title = "Emma"  // nothing is printed: the token died at once
        // page end
      }
      do {
        // page: KVO0015 remedy
        let document = Document()
        let token = document.observe(\.title, options: [.new]) { _, change in print(change.newValue ?? "-") }
        document.title = "Emma"  // prints: Emma
        token.invalidate()
        // page end
      }
      do {
        // page: KVO0014 example
        let (document, holder) = (Document(), Holder())
        holder.document = document
        holder.token = document.observe(\.title) { _, _ in
          print("changed", holder.document?.title ?? "-")
        }
        // The observation keeps the closure, the closure the holder, the holder the document and the token.
        // page end
        holder.token = nil
        holder.document = nil
      }
      do {
        // page: KVO0014 remedy
        let (document, holder) = (Document(), Holder())
        holder.token = document.observe(\.title) { document, _ in
          print("changed", document.title)  // the parameter, not a captured object
        }
        // page end
      }
    }
  }
#endif
