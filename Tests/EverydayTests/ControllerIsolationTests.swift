// A controller's handlers take the isolation of the caller.
#if Macros
  import Foundation
  import KeyValueObserving
  import Synchronization
  import Testing

  @Suite("A controller's handlers")
  struct ControllerIsolationTests {
    @Test("touch the main actor's state without annotations, for changes made on it and elsewhere")
    @MainActor
    func onMainActor() async {
      let (own, shared) = (Document(), SharedDocument())
      let model = ViewModel()
      model.observe(own, shared)
      own.title = "own"
      shared.title = "shared"
      #expect(model.log.sorted() == ["action own", "own", "own", "shared", "shared", "shared"])
      model.log = []
      await Task.detached { shared.title = "elsewhere" }.value
      while model.log.count < 3 { await Task.yield() }
      #expect(model.log == ["elsewhere", "elsewhere", "elsewhere"])
      model.controller.unobserveAll()
      shared.title = "more"
      #expect(model.log.count == 3)
    }

    @Test("call a method of a main actor's class there, also if they are made elsewhere")
    func actionsFromOutside() async {
      let shared = SharedDocument()
      let model = ViewModel()
      observeFromOutside(model, shared)
      await Task.detached { shared.title = "elsewhere" }.value
      while await model.log.count < 4 { await Task.yield() }
      await #expect(model.log.sorted() == ["action elsewhere", "elsewhere", "noted", "noted"])
      shared.title = "again"
      while await model.log.count < 8 { await Task.yield() }
    }

    /// Code without an actor.
    private func observeFromOutside(_ model: ViewModel, _ shared: SharedDocument) {
      let controller = model.outside
      controller.observe(shared, \.title, action: ViewModel.note)
      controller.observe(shared, "title", action: ViewModel.note)
      controller.observe(shared, \.title, options: .new, action: ViewModel.titleChanged)
      controller.observe(shared, \.title, options: .new, action: ViewModel.sharedTitleChanged)
    }

    @Test("of an actor are isolated to it")
    func onActor() async {
      let (worker, shared) = (Worker(), SharedDocument())
      await worker.begin(shared)
      shared.title = "A"
      while await worker.log.isEmpty { await Task.yield() }
      #expect(await worker.log == ["A"])
    }

    @Test("that are isolated to an actor are called on it, also if they are registered elsewhere")
    func isolatedHandler() async {
      let (shared, model) = (SharedDocument(), ViewModel())
      let controller = KeyValueObservationController(observer: model)
      controller.observe(shared, \.title, options: .new) { @MainActor me, _, change in
        MainActor.preconditionIsolated()
        me.log.append(change.newValue!)
      }
      await Task.detached { shared.title = "A" }.value
      while await model.log.isEmpty { await Task.yield() }
      #expect(await model.log == ["A"])
    }

    @Test("in nonisolated code are called on the thread that makes the change")
    func nonisolated() async {
      let (shared, listener, log) = (SharedDocument(), SharedListener(), Log<String>())
      await Task.detached {
        let controller = KeyValueObservationController(observer: listener)
        controller.observe(shared, \.title, options: .new) { _, _, change in log.add(change.newValue!) }
        shared.title = "A"
        #expect(log.all == ["A"])
      }.value
      shared.title = "B"
      #expect(log.all == ["A"])
    }
  }

  @MainActor
  private final class ViewModel {
    var log: [String] = []
    lazy var controller = KeyValueObservationController(observer: self)
    nonisolated var outside: KeyValueObservationController<ViewModel> {
      held.withLock { controller in
        if controller == nil { controller = KeyValueObservationController(observer: self) }
        return controller!
      }
    }
    private let held = Mutex<KeyValueObservationController<ViewModel>?>(nil)

    func observe(_ own: Document, _ shared: SharedDocument) {
      controller.observe(own, \.title, options: .new) { me, _, change in me.log.append(change.newValue!) }
      controller.observe(own, \.title, \.pages) { me, document, _ in me.log.append(document.title) }
      controller.observe(own, \.title, options: .new, action: ViewModel.titleChanged)
      controller.observe(shared, \.title, options: .new) { me, _, change in me.log.append(change.newValue!) }
      controller.observe(shared, "title", options: .new) { me, _, change in me.log.append(change.newValue as! String) }
      controller.observe(shared, \.title, options: .new, action: ViewModel.sharedTitleChanged)
    }

    func note() {
      MainActor.assertIsolated()
      log.append("noted")
    }
    func titleChanged(_ change: NSKeyValueObservedChange<String>) { log.append("action \(change.newValue!)") }
    func sharedTitleChanged(_ change: NSKeyValueObservedChange<String>, _ document: SharedDocument) {
      log.append(change.newValue!)
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
