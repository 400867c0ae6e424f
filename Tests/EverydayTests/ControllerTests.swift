// The controller of one observer's observations, as FBKVOController's tests have it.
#if Macros
  import KeyValueObserving
  import Testing

  @Suite("A controller")
  struct ControllerTests {
    private typealias Controller = KeyValueObservationController
    private let document = Document()
    private let panel = Panel()

    @Test("observes typed key paths, string key paths and expressions with a closure that captures nothing")
    func closures() {
      let controller = Controller(observer: panel)
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
      let (document, other, panel) = (document, Document(), panel)
      let controller = Controller(observer: panel)
      func observe(_ each: Document) {
        controller.observe(each, \.title) { me, _, _ in me.log.append("title") }
        controller.observe(each, "pages") { me, _, _ in me.log.append("pages") }
        controller.observe(each, \.author?.name) { me, _, _ in me.log.append("author") }
      }
      func delivered(by document: Document) -> [String] {
        panel.log = []
        document.title += "A"
        document.pages += 1
        document.author = Author("X")
        return panel.log
      }
      for each in [document, other] { observe(each) }
      let steps: [(unobserve: () -> Void, left: [String])] = [
        ({ controller.unobserve(document, "title") }, ["pages", "author"]),
        ({ controller.unobserve(document, \.pages) }, ["author"]),
        ({ controller.unobserve(document, "author.name") }, []),
      ]
      for step in steps {
        for _ in 1...2 { step.unobserve() }
        #expect(delivered(by: document) == step.left)
      }
      #expect(delivered(by: other) == ["title", "pages", "author"])
      for unobserve in [{ controller.unobserve(other) }, { controller.unobserveAll() }] {
        for _ in 1...2 { unobserve() }
        #expect(delivered(by: other) == [])
        observe(other)
      }
      controller.unobserveAll()
      controller.unobserve(Document(), \.title)
      #expect(document.observationInfo == nil && other.observationInfo == nil)
    }

    @Test("ends only its own observations")
    func endsOnlyItsOwn() {
      let (controller, second) = (Controller(observer: panel), Controller(observer: panel))
      controller.observe(document, \.title) { me, _, _ in me.log.append("first") }
      second.observe(document, \.title) { me, _, _ in me.log.append("second") }
      document.observe(\.title, for: panel) { me, _, _ in me.log.append("none") }
      controller.unobserveAll()
      document.title = "A"
      #expect(panel.log == ["none", "second"])
    }

    @Test("ends all its observations when it is deallocated, also with an observer that holds it and observes itself")
    func death() {
      weak var weakView: View?
      do {
        let view = View()
        weakView = view
        view.controller.observe(document, \.title) { me, _, _ in me.log.append("title") }
        view.controller.observe(document, "pages") { me, _, _ in me.log.append("pages") }
        view.controller.observe(view, \.width) { me, _, _ in me.log.append("width") }
        view.width = 2
        document.title = "A"
        #expect(view.log == ["width", "title"])
      }
      #expect(weakView == nil)
      #expect(document.observationInfo == nil)
    }

    @Test("does not keep the observed object, unless it is asked to: until it is unobserved or the controller dies")
    func retainsObserved() {
      weak var first: Document?
      let controller = Controller(observer: panel)
      do {
        let document = Document()
        first = document
        controller.observe(document, \.title) { _, _, _ in }
      }
      #expect(first == nil)
      #expect(controller.debugDescription.hasSuffix("observes nothing"))
      let ways: [(inout Controller<Panel>?, Document) -> Void] = [
        { $0!.unobserve($1, \.title) }, { $0!.unobserve($1) }, { keeping, _ in keeping!.unobserveAll() },
        { keeping, _ in keeping = nil },
      ]
      for (number, end) in ways.enumerated() {
        weak var second: Document?
        var keeping: Controller? = Controller(observer: panel, retainsObserved: true)
        do {
          let document = Document()
          second = document
          keeping!.observe(document, \.title) { me, _, _ in me.log.append("called") }
        }
        second?.title = "A"
        #expect(panel.log.count == number + 1)
        end(&keeping, second!)
        #expect(second == nil, "way \(number)")
      }
    }

    @Test("releases objects whose observations have ended by themselves, before there are many")
    func releases() {
      let controller = Controller(observer: panel, retainsObserved: true)
      controller.observe(document, \.title) { _, _, _ in }
      var (living, most) = (0, 0)
      func observed() -> Held {
        living += 1
        let held = Held {
          living -= 1
          controller.unobserve(document, \.pages)  // it may be used in the deinit of what it releases
        }
        controller.observe(held, \.value) { _, _, _ in }
        return held
      }
      for _ in 1...500 { controller.unobserve(observed()) }
      #expect(living == 0)
      for _ in 1...1000 {
        observed().stopObserving(for: panel)
        most = max(most, living)
      }
      #expect(most < 100)
      controller.unobserveAll()
      #expect(living == 0)
    }

    @Test("makes a second observation of a key path as it is asked to: each, in place of the first, or with KVO0019")
    func duplicates() {
      typealias Controller = KeyValueObservationController<Panel>
      func calls(of policy: Controller.Duplicates, byCall: Bool) -> [String] {
        let controller = byCall ? Controller(observer: panel) : Controller(observer: panel, duplicates: policy)
        let own = byCall ? policy : nil
        panel.log = []
        let raised = faults {
          controller.observe(document, \.title, duplicates: own) { me, _, _ in me.log.append("first") }
          controller.observe(document, "title", duplicates: own) { me, _, _ in me.log.append("second") }
          controller.observe(document, \.pages, duplicates: own) { me, _, _ in me.log.append("pages") }
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

    @Test("may unobserve in any handler, also in an initial notification: nothing is delivered any more")
    func unobservesInHandler() {
      let view = View()
      view.controller.observe(document, "pages", options: .initial) { me, document, _ in
        me.log.append("initial")
        me.controller.unobserveAll()
        document.pages += 1
      }
      view.controller.observe(document, \.title) { me, _, _ in me.log.append("older") }
      view.controller.observe(document, "title") { me, document, _ in
        me.log.append("newer")
        me.controller.unobserve(document)
      }
      for title in ["A", "B"] { document.title = title }
      document.pages = 7
      #expect(view.log == ["initial", "newer"])
      #expect(document.observationInfo == nil)
    }

    @Test("lists its observations in its debug description, in the order in which they were made")
    func describes() {
      let controller = Controller(observer: panel)
      controller.observe(document, \.title, options: [.new, .initial]) { _, _, _ in }
      controller.observe(document, "author.name") { _, _, _ in }
      controller.observe(document, \.title) { _, _, _ in }
      let lines = controller.debugDescription.replacing(/0x[0-9a-f]+/, with: "0x").split(separator: "\n")
        .map { $0.replacing(/:[0-9]+$/, with: "") }
      let place = "at EverydayTests/ControllerTests.swift"
      #expect(
        lines == [
          "the controller of Panel@0x observes:", #"  "title" of Document@0x, .new, .initial, \#(place)"#,
          #"  "author.name" of Document@0x, \#(place)"#, #"  "title" of Document@0x, \#(place)"#,
        ])
    }
  }

  @KeyValueObservable
  private final class View {
    var width = 1
    @NotObserved var log: [String] = []
    @NotObserved private(set) lazy var controller = KeyValueObservationController(observer: self)
  }

  /// Calls a closure when it is deallocated.
  @KeyValueObservable
  private final class Held {
    var value = 0
    @NotObserved let died: () -> Void

    init(died: @escaping () -> Void) { self.died = died }

    deinit { died() }
  }

  @Suite("A controller's handlers")
  struct ControllerIsolationTests {
    let shared = SharedDocument()

    @Test("touch the main actor's state without annotations, for changes made on it and elsewhere")
    @MainActor
    func onMainActor() async {
      let (own, model) = (Document(), ViewModel())
      model.observe(own, shared)
      own.title = "own"
      shared.title = "shared"
      #expect(model.log.sorted() == ["own", "shared", "shared"])
      model.log = []
      await Task.detached { [shared] in shared.title = "elsewhere" }.value
      while model.log.count < 2 { await Task.yield() }
      #expect(model.log == ["elsewhere", "elsewhere"])
      model.controller.unobserveAll()
      shared.title = "more"
      #expect(model.log.count == 2)
    }

    @Test("of an actor, or that are isolated to one, are called on it")
    func onActors() async {
      let (worker, model) = (Worker(), ViewModel())
      await worker.begin(shared)
      let controller = KeyValueObservationController(observer: model)
      controller.observe(shared, \.title, options: .new) { @MainActor me, _, change in me.log.append(change.newValue!) }
      shared.title = "A"
      while await worker.log.isEmpty { await Task.yield() }
      while await model.log.isEmpty { await Task.yield() }
      #expect(await worker.log == ["A"])
      #expect(await model.log == ["A"])
    }
  }

  @MainActor
  private final class ViewModel {
    var log: [String] = []
    lazy var controller = KeyValueObservationController(observer: self)
    func observe(_ own: Document, _ shared: SharedDocument) {
      controller.observe(own, \.title, options: .new) { me, _, change in me.log.append(change.newValue!) }
      controller.observe(shared, \.title, options: .new) { me, _, change in me.log.append(change.newValue!) }
      controller.observe(shared, "title", options: .new) { me, _, change in me.log.append(change.newValue as! String) }
    }
  }

  private actor Worker {
    var log: [String] = []
    private lazy var controller = KeyValueObservationController(observer: self)

    func begin(_ shared: SharedDocument) {
      controller.observe(shared, \.title, options: .new) { me, _, change in me.log.append(change.newValue!) }
    }
  }
#endif
