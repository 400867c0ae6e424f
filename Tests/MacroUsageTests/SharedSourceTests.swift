// Source that is shared with Apple's platforms: attributes stand in `#if`.
#if Macros
  import KeyValueObserving
  import Testing

  #if !canImport(ObjectiveC)
    @KeyValueObservable
  #else
    @Observable
  #endif
  final class SharedModel {
    #if canImport(ObjectiveC)
      @objc
    #endif
    dynamic var name = ""
    #if canImport(Combine)
      @Published
    #endif
    var size = 0
    #if !canImport(ObjectiveC)
      @NotObserved
    #endif
    var scratch = 0
    // What another platform's branch declares is not this macro's.
    #if canImport(ObjectiveC)
      @objc dynamic lazy var cache = 1
    #else
      @NotObserved lazy var cache = 1
    #endif
    @available(watchOS, unavailable) var hover = false
  }

  @KeyValueObservable
  #if !canImport(ObjectiveC)
    @MainActor
  #endif
  final class SharedViewModel {
    var title = ""
    nonisolated init() {}
  }

  @Suite("Source that is shared with other platforms")
  struct SharedSourceTests {
    @Test func `A class is observable, and a property is not, by attributes in #if; other platforms' do not count`() {
      let model = SharedModel()
      #expect(changes(of: model, \.name) { model.name = "a" } == [" -> a"])
      #expect(changes(of: model, \.size) { model.size = 1 } == ["0 -> 1"])
      #expect(observedNames(of: SharedModel.self) == ["name", "size", "hover"])
    }

    @Test @MainActor func `An actor in #if isolates the class and its properties`() {
      let model = SharedViewModel()
      #expect(changes(of: model, \.title) { model.title = "a" } == [" -> a"])
    }
  }
#endif
