// Pages about key-value coding and collections: KVO0026, KVO0035 to KVO0038, KVO0040.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  extension PageTests {
    @Test func `The examples about coding and collections raise their faults, and the remedies raise nothing`() {
      page(26) {
        // page: KVO0026 example
        let document = Document()
        document.setValue("many", forKey: "pages")
        // page end
      } remedy: {
        // page: KVO0026 remedy
        let document = Document()
        document.setValue(12, forKey: "pages")
        document.pages = 12  // or what the compiler checks
        // page end
      }

      page(35) {
        // page: KVO0035 example
        let document = Document()
        document.setValue(nil, forKey: "pages")
        // page end
      } remedy: {
        // page: KVO0035 remedy
        let document = Document()
        document.setValue(0, forKey: "pages")
        document.setValue(nil, forKey: "author")  // an optional property
        // page end
      }

      page(36) {
        // page: KVO0036 example
        let document = Document()
        document.chapters = [Chapter()]
        print(document.value(forKeyPath: "chapters.@median.title") ?? "-")
        // page end
      } remedy: {
        // page: KVO0036 remedy
        let document = Document()
        document.chapters = [Chapter()]
        print(document.value(forKeyPath: "chapters.@max.title") ?? "-")
        // page end
      }

      page(37) {
        // page: KVO0037 example
        let document = Document()
        document.mutableArrayValue(for: \.chapters).remove(at: 0)  // there are no chapters
        // page end
      } remedy: {
        // page: KVO0037 remedy
        let document = Document()
        let chapters = document.mutableArrayValue(for: \.chapters)
        if !chapters.isEmpty { chapters.remove(at: 0) }
        // page end
      }

      page(38) {
        // page: KVO0038 example
        let document = Document()
        document.mutableArrayValue(forKey: "notes").append("see page 3")  // var notes: [String]? is nil
        // page end
      } remedy: {
        // page: KVO0038 remedy
        let document = Document()
        document.notes = []
        document.mutableArrayValue(forKey: "notes").append("see page 3")
        // page end
      }

      page(40) {
        // page: KVO0040 example
        let document = Document()
        let chapters = document.mutableArrayValue(for: \.chapters)
        chapters.insert([Chapter(), Chapter()], at: IndexSet(integer: 0))  // two chapters, one index
        // page end
      } remedy: {
        // page: KVO0040 remedy
        let document = Document()
        let chapters = document.mutableArrayValue(for: \.chapters)
        chapters.insert([Chapter(), Chapter()], at: IndexSet(0..<2))
        // page end
      }
    }
  }
#endif
