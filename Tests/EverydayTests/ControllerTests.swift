// The controller of one observer's observations, as FBKVOController's tests have it.
#if Macros
  import KeyValueObserving
  import Testing

  @Suite("A controller")
  struct ControllerTests {
    let document = Document()
    let panel = Panel()

    @Test("observes typed key paths, string key paths and expressions with a closure that captures nothing")
    func closures() {
      let controller = KeyValueObservationController(observer: panel)
      controller.observe(document, \.title, options: [.old, .new]) { me, document, change in
        me.log.append("\(change.oldValue!)>\(change.newValue!) \(document.pages)")
      }
      controller.observe(document, "author.name", options: [.old, .new]) { me, _, change in
        me.log.append("\(change.oldValue!)>\(change.newValue!)")
      }
      controller.observe(document, \.summary, options: .new) { me, _, change in me.log.append(change.newValue!) }
      document.title = "A"
      document.author = Author("X")
      #expect(Set(panel.log) == [">A 0", "A (0)", "<null>>X"])
    }

    @Test("ends the observations of a key path, of an object, or all, any number of times")
    func unobserves() {
      let other = Document()
      let controller = KeyValueObservationController(observer: panel)
      for each in [document, other] {
        controller.observe(each, \.title) { me, _, _ in me.log.append("title") }
        controller.observe(each, "pages") { me, _, _ in me.log.append("pages") }
        controller.observe(each, \.author?.name) { me, _, _ in me.log.append("author") }
      }
      func change(_ document: Document) -> [String] {
        panel.log = []
        document.title += "A"
        document.pages += 1
        document.author = Author("X")
        return panel.log
      }
      #expect(change(document) == ["title", "pages", "author"])
      for _ in 1...2 { controller.unobserve(document, "title") }
      #expect(change(document) == ["pages", "author"])
      for _ in 1...2 { controller.unobserve(document, \.pages) }
      #expect(change(document) == ["author"])
      for _ in 1...2 { controller.unobserve(document, "author.name") }
      #expect(change(document).isEmpty)
      #expect(change(other) == ["title", "pages", "author"])
      for _ in 1...2 { controller.unobserve(other) }
      #expect(change(other).isEmpty)
      controller.observe(other, \.title) { me, _, _ in me.log.append("again") }
      #expect(change(other) == ["again"])
      for _ in 1...2 { controller.unobserveAll() }
      #expect(change(other).isEmpty)
      controller.unobserve(Document(), \.title)
      #expect(document.observationInfo == nil && other.observationInfo == nil)
    }

    @Test("ends only its own observations")
    func endsOnlyItsOwn() {
      let controller = KeyValueObservationController(observer: panel)
      let second = KeyValueObservationController(observer: panel)
      controller.observe(document, \.title) { me, _, _ in me.log.append("first") }
      second.observe(document, \.title) { me, _, _ in me.log.append("second") }
      document.observe(\.title, for: panel) { me, _, _ in me.log.append("none") }
      controller.unobserveAll()
      document.title = "A"
      #expect(panel.log == ["none", "second"])
    }

    @Test("ends all at its death")
    func death() {
      var controller: KeyValueObservationController? = KeyValueObservationController(observer: panel)
      controller!.observe(document, \.title) { me, _, _ in me.log.append("title") }
      controller!.observe(document, "pages") { me, _, _ in me.log.append("pages") }
      controller = nil
      document.title = "A"
      document.pages = 1
      #expect(panel.log.isEmpty && document.observationInfo == nil)
    }

    @Test("of an observer that holds it dies with the observer, also with one that observes itself")
    func deathOfObserver() {
      weak var weakView: View?
      do {
        let view = View()
        weakView = view
        view.controller.observe(document, \.title) { me, _, _ in me.changed() }
        view.controller.observe(view, \.width) { me, _, _ in me.changed() }
        view.width = 2
        document.title = "A"
        #expect(view.log == ["changed", "changed"])
      }
      #expect(weakView == nil)
      #expect(document.observationInfo == nil)
    }

    @Test("does nothing for an observer that has died")
    func observerHasDied() {
      var view: View? = View()
      let controller = KeyValueObservationController(observer: view!)
      controller.observe(document, \.title) { me, _, _ in me.changed() }
      controller.observe(document, "title") { me, _, _ in me.changed() }
      view = nil
      controller.observe(document, \.title) { me, _, _ in me.changed() }
      #expect(document.observationInfo == nil)
      document.title = "A"
    }

    @Test("does not keep the observed object, unless it is asked to: until it is unobserved or the controller dies")
    func retainsObserved() {
      weak var first: Document?
      let controller = KeyValueObservationController(observer: panel)
      do {
        let document = Document()
        first = document
        controller.observe(document, \.title) { _, _, _ in }
      }
      #expect(first == nil)
      #expect(controller.debugDescription.hasSuffix("observes nothing"))
      for way in 0..<4 {
        weak var second: Document?
        var keeping: KeyValueObservationController? =
          KeyValueObservationController(observer: panel, retainsObserved: true)
        do {
          let document = Document()
          second = document
          keeping!.observe(document, \.title) { me, _, _ in me.log.append("told") }
        }
        #expect(second != nil)
        second?.title = "A"
        #expect(panel.log.count == way + 1)
        switch way {
        case 0: keeping!.unobserve(second!, \.title)
        case 1: keeping!.unobserve(second!)
        case 2: keeping!.unobserveAll()
        default: keeping = nil
        }
        #expect(second == nil)
      }
    }

    @Test("treats a second observation of a key path as it is told: each, in place of the first, or with fault KVO0019")
    func duplicates() {
      typealias Controller = KeyValueObservationController<Panel>
      func calls(of policy: Controller.Duplicates, byCall: Bool) -> [String] {
        let controller = byCall ? Controller(observer: panel) : Controller(observer: panel, duplicates: policy)
        panel.log = []
        let raised = faults {
          controller.observe(document, \.title, duplicates: byCall ? policy : nil) { me, _, _ in me.log.append("first")
          }
          controller.observe(document, "title", duplicates: byCall ? policy : nil) { me, _, _ in me.log.append("second")
          }
          controller.observe(document, \.pages, duplicates: byCall ? policy : nil) { me, _, _ in me.log.append("pages")
          }
        }
        document.title += "A"
        document.pages += 1
        return panel.log + raised.map { "KVO\($0)" }
      }
      for byCall in [true, false] {
        #expect(calls(of: .each, byCall: byCall) == ["second", "first", "pages"])
        #expect(calls(of: .replace, byCall: byCall) == ["second", "pages"])
        #expect(calls(of: .report, byCall: byCall) == ["second", "first", "pages", "KVO19"])
      }
      let controller = Controller(observer: panel, duplicates: .report)
      let raised = faults {
        controller.observe(document, \.title) { _, _, _ in }
        controller.unobserve(document, \.title)
        controller.observe(document, \.title) { _, _, _ in }
        controller.observe(Document(), \.title) { _, _, _ in }
      }
      #expect(raised.isEmpty)
    }

    @Test("may unobserve in an initial notification, and then nothing is told any more")
    func unobservesInInitial() {
      let view = View()
      view.controller.observe(document, \.title, options: .initial) { me, document, _ in
        me.log.append("typed")
        me.controller.unobserve(document, \.title)
        document.title = "A"
      }
      view.controller.observe(document, "pages", options: .initial) { me, document, _ in
        me.log.append("string")
        me.controller.unobserveAll()
        document.pages += 1
      }
      document.title = "B"
      document.pages = 7
      #expect(view.log == ["typed", "string"])
      #expect(document.observationInfo == nil)
    }

    @Test("may unobserve in any handler: itself, or one that is still to be called")
    func unobservesInHandler() {
      let view = View()
      view.controller.observe(document, \.title) { me, _, _ in me.log.append("older") }
      view.controller.observe(document, "title") { me, document, _ in
        me.log.append("newer")
        me.controller.unobserve(document)
      }
      document.title = "A"
      document.title = "B"
      #expect(view.log == ["newer"])
    }

    @Test("lists its observations in its debug description")
    func describes() {
      let controller = KeyValueObservationController(observer: panel)
      controller.observe(document, \.title, options: [.new, .initial]) { _, _, _ in }
      controller.observe(document, "author.name") { _, _, _ in }
      let lines = controller.debugDescription.replacing(/0x[0-9a-f]+/, with: "0x").split(separator: "\n")
      #expect(lines[0] == "the controller of Panel@0x observes:")
      #expect(
        lines[1].replacing(/:[0-9]+$/, with: "")
          == #"  "title" of Document@0x, .new, .initial, at EverydayTests/ControllerTests.swift"#)
      #expect(lines[2].hasPrefix(#"  "author.name" of Document@0x, at "#) && lines.count == 3)
    }

    @Test("forgets observations that ended by themselves")
    func forgets() {
      let controller = KeyValueObservationController(observer: panel)
      for _ in 1...1000 { controller.observe(Document(), \.title) { _, _, _ in } }
      controller.observe(document, \.title) { me, _, _ in me.log.append("told") }
      document.title = "A"
      #expect(panel.log == ["told"])
      #expect(controller.debugDescription.split(separator: "\n").count == 2)
      document.stopObserving(for: panel)
      #expect(controller.debugDescription.hasSuffix("observes nothing"))
    }
  }

  @KeyValueObservable
  private final class View {
    var width = 1
    @NotObserved var log: [String] = []
    @NotObserved private(set) lazy var controller = KeyValueObservationController(observer: self)

    func changed() { log.append("changed") }
  }
#endif
