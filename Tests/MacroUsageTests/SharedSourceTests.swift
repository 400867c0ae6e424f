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
    @Test("A class is observable, and a property is not, by attributes in #if; those of another platform do not count")
    func attributesInConditions() {
      let (model, receiver) = (SharedModel(), Author())
      nonisolated(unsafe) var log: [String] = []
      model.onChange(of: \.name, for: receiver) { _, old, new in log.append("name \(old)>\(new)") }
      model.onChange(of: \.size, for: receiver) { _, old, new in log.append("size \(old)>\(new)") }
      (model.name, model.size, model.scratch) = ("a", 1, 2)
      #expect(log == ["name >a", "size 0>1"])
    }

    @Test("An actor in #if isolates the class and its properties")
    @MainActor func actorInCondition() {
      let (model, receiver) = (SharedViewModel(), Author())
      nonisolated(unsafe) var log: [String] = []
      model.onChange(of: \.title, for: receiver) { _, old, new in log.append("\(old)>\(new)") }
      model.title = "a"
      #expect(log == [">a"])
    }
  }
#endif
