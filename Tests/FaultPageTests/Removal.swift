// Pages about removal: KVO0002, KVO0003, KVO0016, KVO0017.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  /// Gives the closure of an example access to its own token.
  private final class Holder: @unchecked Sendable { var token: NSKeyValueObservation? }

  extension PageTests {
    @Test func `The examples about removal raise their faults, and the remedies raise nothing`() {
      page(2) {
        // page: KVO0002 example
        var document = Document()
        document.addObserver(panel, forKeyPath: "title")
        let first = document
        document = Document()  // another document now
        document.removeObserver(panel, forKeyPath: "title")
        // page end
        first.removeObserver(panel, forKeyPath: "title")
      } remedy: {
        // page: KVO0002 remedy
        var document = Document()
        document.addObserver(panel, forKeyPath: "title")
        document.removeObserver(panel, forKeyPath: "title")  // from the old one, before it is replaced
        document = Document()
        document.addObserver(panel, forKeyPath: "title")
        // page end
        document.removeObserver(panel, forKeyPath: "title")
      }

      page(3) {
        // page: KVO0003 example
        let document = Document()
        document.addObserver(panel, forKeyPath: "title")
        document.removeObserver(panel, forKeyPath: "title")  // when the panel is hidden
        document.removeObserver(panel, forKeyPath: "title")  // and again when it is closed
        // page end
      } remedy: {
        // page: KVO0003 remedy
        let document = Document()
        let token = document.observe(\.title) { _, _ in }
        token.invalidate()
        token.invalidate()  // harmless: a token may be ended any number of times
        // page end
      }

      let (inner, outer) = (
        UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1),
        UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
      )
      defer {
        inner.deallocate()
        outer.deallocate()
      }
      page(16) {
        let document = Document()
        // page: KVO0016 example
        document.addObserver(panel, forKeyPath: "title", context: inner)  // by a subclass
        document.addObserver(panel, forKeyPath: "title", context: outer)  // by its superclass
        document.removeObserver(panel, forKeyPath: "title")  // which of the two?
        // page end
        document.removeObserver(panel, forKeyPath: "title")
      } remedy: {
        let document = Document()
        document.addObserver(panel, forKeyPath: "title", context: inner)
        document.addObserver(panel, forKeyPath: "title", context: outer)
        // page: KVO0016 remedy
        document.removeObserver(panel, forKeyPath: "title", context: inner)
        // page end
        document.removeObserver(panel, forKeyPath: "title", context: outer)
      }

      page(17) {
        let holder = Holder()
        // page: KVO0017 example
        let document = Document()
        holder.token = document.observe(\.title) { _, _ in
          holder.token?.invalidateAndWait()  // waits until this closure has returned
        }
        document.title = "Emma"
        // page end
        holder.token = nil
      } remedy: {
        let holder = Holder()
        // page: KVO0017 remedy
        let document = Document()
        holder.token = document.observe(\.title) { _, _ in
          holder.token?.invalidate()  // ends it without waiting
        }
        document.title = "Emma"
        // page end
        holder.token = nil
      }
    }
  }
#endif
