// Pages about registration: KVO0009 to KVO0011, KVO0018, KVO0019, KVO0034, KVO0039.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  // page: KVO0011 example class
  class Draft: Document, @unchecked Sendable {  // without @KeyValueObservable
    var version = 1
  }
  // page end

  // page: KVO0011 remedy class
  @KeyValueObservable
  class Proof: Document, @unchecked Sendable {
    var version = 1
  }
  // page end

  // page: KVO0039 example class
  @KeyValueObservable
  class Rectangle {
    var width = 1.0
    var height = 1.0
    var area: Double { width * height }
    class func keyPathsForValuesAffectingArea() -> Set<String> { ["width", "height", "area"] }
  }
  // page end

  // page: KVO0039 remedy class
  @KeyValueObservable
  class Square {
    var side = 1.0
    var area: Double { side * side }
    class func keyPathsForValuesAffectingArea() -> Set<String> { ["side"] }
  }
  // page end

  extension PageTests {
    @Test func `The examples about registration raise their faults, and the remedies raise nothing`() {
      page(9) {
        // page: KVO0009 example
        let document = Document()
        document.addObserver(panel, forKeyPath: "auther.name", options: [.new])
        // page end
      } remedy: {
        // page: KVO0009 remedy
        let document = Document()
        document.addObserver(panel, forKeyPath: "author.name", options: [.new])
        let token = document.observe(\.author?.name) { _, _ in }  // or one that the compiler checks
        // page end
        token.invalidate()
        document.removeObserver(panel, forKeyPath: "author.name")
      }

      page(10) {
        // page: KVO0010 example
        let (document, prefix) = (Document(), "author.")
        document.addObserver(panel, forKeyPath: prefix + ".name")
        // page end
      } remedy: {
        // page: KVO0010 remedy
        let (document, components) = (Document(), ["author", "name"])
        document.addObserver(panel, forKeyPath: components.joined(separator: "."))
        // page end
        document.removeObserver(panel, forKeyPath: "author.name")
      }

      page(11) {
        // page: KVO0011 example
        let draft = Draft()
        let token = draft.observe(\.version) { _, _ in print("changed") }
        draft.version += 1  // prints nothing
        // page end
        token.invalidate()
      } remedy: {
        // page: KVO0011 remedy
        let proof = Proof()
        let token = proof.observe(\.version) { _, _ in print("changed") }
        proof.version += 1  // prints: changed
        // page end
        token.invalidate()
      }

      page(18) {
        // page: KVO0018 example
        let document = Document()
        document.chapters = [Chapter()]
        document.addObserver(panel, forKeyPath: "chapters.title")
        // page end
      } remedy: {
        // page: KVO0018 remedy
        let document = Document()
        document.chapters = [Chapter()]
        document.addObserver(panel, forKeyPath: "chapters")  // what comes and goes
        document.addObserver(panel, forKeyPath: "chapters.@count")  // a figure about them
        let tokens = document.chapters.map { chapter in chapter.observe(\.title) { _, _ in } }  // each one's title
        // page end
        document.removeObserver(panel, forKeyPath: "chapters")
        document.removeObserver(panel, forKeyPath: "chapters.@count")
        for token in tokens { token.invalidate() }
      }

      page(19) {
        // page: KVO0019 example
        let document = Document()
        document.addObserver(panel, forKeyPath: "title")
        document.addObserver(panel, forKeyPath: "title")  // each change now calls the panel twice
        // page end
        document.removeObserver(panel, forKeyPath: "title")
        document.removeObserver(panel, forKeyPath: "title")
      } remedy: {
        // page: KVO0019 remedy
        let document = Document()
        var token: NSKeyValueObservation?
        for _ in 1...2 {
          token?.invalidate()  // the one before, if this runs again
          token = document.observe(\.title) { _, _ in }
        }
        // page end
        token?.invalidate()
      }

      page(39) {
        // page: KVO0039 example
        let rectangle = Rectangle()
        rectangle.addObserver(panel, forKeyPath: "area")
        // page end
        rectangle.removeObserver(panel, forKeyPath: "area")
      } remedy: {
        let square = Square()
        square.addObserver(panel, forKeyPath: "area")
        square.removeObserver(panel, forKeyPath: "area")
      }
    }
  }
#endif
