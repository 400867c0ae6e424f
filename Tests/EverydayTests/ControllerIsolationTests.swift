// A controller's handlers take the isolation of the caller.
#if Macros
  import Foundation
  import KeyValueObserving
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
      #expect(model.log.sorted() == ["own", "shared", "shared"])
      model.log = []
      await Task.detached { shared.title = "elsewhere" }.value
      while model.log.count < 2 { await Task.yield() }
      #expect(model.log == ["elsewhere", "elsewhere"])
      model.controller.unobserveAll()
      shared.title = "more"
      #expect(model.log.count == 2)
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
