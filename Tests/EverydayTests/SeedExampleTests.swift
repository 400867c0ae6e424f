// The examples of the articles that the library began with.
#if Macros
  import KeyValueObserving
  import KeyValueObservingTesting
  import Testing

  @Suite("The articles' examples")
  struct SeedExampleTests {
    @Test("A view controller that comes and goes with its page is told once a change while it is shown")
    func comesAndGoes() {
      let document = Document()
      let page = PageController(document)
      for _ in 1...3 {
        // As appearances may be: not in pairs.
        page.viewWillAppear()
        page.viewWillAppear()
        document.title += "x"
        page.viewDidDisappear()
        page.viewDidDisappear()
        document.title += "-"
      }
      #expect(page.shown == ["x", "x-x", "x-x-x"])
      #expect(document.observationInfo == nil)
    }

    @Test("A cell that is reused for another model shows that model only")
    func reusedCell() {
      let models = ["a", "b"].map { Author($0) }
      let (cell, classic) = (Cell(), ClassicCell())
      for model in models {
        cell.show(model)
        classic.show(model)
      }
      models[0].name = "A"
      #expect(cell.text == "b" && classic.text == "b")
      models[1].name = "B"
      #expect(cell.text == "B" && classic.text == "B")
    }

    @Test("A model object that was replaced between registration and removal, and has died, is no fault")
    func replacedModel() {
      let holder = ModelHolder()
      let observer = ClassicPanel()
      expectFaults([]) {
        holder.model.addObserver(observer, forKeyPath: "name", options: [.new, .endsWithObserver])
        holder.model = Author("other")
        // This one was never observed: removal of everything is no fault, and the first has ended with its object.
        holder.model.removeObserver(observer)
        holder.model.name = "X"
      }
      #expect(observer.log.all.isEmpty)
    }

    @Test("A manual removal, followed by the automatic one at both deaths, removes once")
    func manualThenAutomatic() {
      for isObjectFirst in [true, false] {
        var document: Document? = Document()
        var panel: ClassicPanel? = ClassicPanel()
        expectFaults([]) {
          document!.addObserver(panel!, forKeyPath: "title", options: .endsWithObserver)
          document!.removeObserver(panel!, forKeyPath: "title")
          if isObjectFirst { document = nil }
          panel = nil
          document = nil
        }
      }
    }

    @Test("Removal, then adding again, notifies again")
    func removedAndAdded() {
      let (document, panel) = (Document(), ClassicPanel())
      for _ in 1...3 {
        document.addObserver(panel, forKeyPath: "title", options: [.new, .endsWithObserver])
        document.title = "A"
        document.removeObserver(panel, forKeyPath: "title")
        document.title = "B"
      }
      #expect(panel.log.all == ["title A", "title A", "title A"])
    }

    @Test(
      "An observation can be ended twice, in its own callback and in its initial one, and the observer may die in it")
    func endedInCallbacks() {
      let document = Document()
      let holder = TokenHolder()
      holder.token = document.observe(\.title, options: .initial, for: holder) { me, document, _ in
        me.calls += 1
        document.stopObserving(for: me)
      }
      holder.token?.invalidate()
      document.title = "A"
      #expect(holder.calls == 1)
      holder.token = document.observe(\.title, for: holder) { me, _, _ in
        me.calls += 1
        me.token?.invalidate()
        me.token?.invalidate()
        me.token = nil
      }
      document.title = "B"
      document.title = "C"
      #expect(holder.calls == 2)
    }
  }

  private final class PageController {
    let document: Document
    var shown: [String] = []
    private lazy var observations = KeyValueObservationController(observer: self, duplicates: .replace)

    init(_ document: Document) { self.document = document }

    func viewWillAppear() { observations.observe(document, \.title) { me, _, _ in me.titleChanged() } }
    func viewDidDisappear() { observations.unobserveAll() }

    private func titleChanged() { shown.append(document.title) }
  }

  private final class Cell {
    var text = ""
    private lazy var observations = KeyValueObservationController(observer: self)

    func show(_ author: Author) {
      observations.unobserveAll()
      observations.observe(author, \.name, options: [.initial, .new]) { me, _, change in me.text = change.newValue! }
    }
  }

  private final class ClassicCell: KeyValueObserver {
    var text = ""

    func show(_ author: Author) {
      removeFromAllObservedObjects()
      author.addObserver(self, forKeyPath: "name", options: [.initial, .new, .endsWithObserver])
    }

    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      text = change?[.newKey] as? String ?? ""
    }
  }

  private final class ModelHolder {
    var model = Author("first")
  }

  private final class TokenHolder {
    var token: NSKeyValueObservation?
    var calls = 0
  }
#endif
