// What a controller does for each observation when it has many.
#if Macros
  @testable import KeyValueObserving
  import Testing

  @Suite("A controller of many observations")
  struct ControllerGrowthTests {
    /// Counts how often observations are looked at, while a number of them is made.
    private func looks(at number: Int, _ duplicates: KeyValueObservationController<Panel>.Duplicates) -> Int {
      let (document, panel) = (Document(), Panel())
      let controller = KeyValueObservationController(observer: panel)
      let looks = Looks()
      for index in 0..<number {
        controller.add(
          document, index.isMultiple(of: 2) ? "title" : "pages", [], duplicates, .init(file: #fileID, line: #line)
        ) {
          _, _ in CountedToken(looks)
        }
      }
      defer { controller.unobserveAll() }
      return looks.count
    }

    @Test("of one object looks at a number of them in proportion to those that are made", arguments: [false, true])
    func oneObject(replaces: Bool) {
      let (few, many) = (looks(at: 250, replaces ? .replace : .each), looks(at: 1000, replaces ? .replace : .each))
      #expect(many < 6 * few)
      #expect(many < 6 * 1000)
    }

    @Test("lists them in the order in which they were made, also of several key paths")
    func order() {
      let (document, panel) = (Document(), Panel())
      let controller = KeyValueObservationController(observer: panel)
      controller.observe(document, \.title) { _, _, _ in }
      controller.observe(document, \.pages) { _, _, _ in }
      controller.observe(document, \.title) { _, _, _ in }
      controller.observe(document, \.tags) { _, _, _ in }
      let keys = controller.debugDescription.split(separator: "\n").dropFirst().map {
        String($0.split(separator: "\"")[1])
      }
      #expect(keys == ["title", "pages", "title", "tags"])
      controller.unobserve(document, \.title)
      #expect(controller.debugDescription.split(separator: "\n").count == 3)
    }
  }

  private final class Looks {
    var count = 0
  }

  /// The token of an observation that never ends by itself.
  private final class CountedToken: NSKeyValueObservation, @unchecked Sendable {
    private let looks: Looks

    init(_ looks: Looks) {
      self.looks = looks
      super.init(0)
    }

    override var isActive: Bool {
      looks.count += 1
      return true
    }
  }
#endif
