// Members that say what affects a key, and that use objects of their own class meanwhile.
#if Macros
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  private class Recursive: @unchecked Sendable {
    var name = "n"
    var other = 0
    var silent = 0
    /// Reads nothing observable.
    var label: String { "?" }
    var caption: String { "?" }
    static let log = Log()

    init() {}

    nonisolated class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
      use()
      return key == "label" ? ["name"] : key == "caption" ? ["label"] : []
    }

    nonisolated class func automaticallyNotifiesObservers(forKey key: String) -> Bool {
      use()
      return key != "silent"
    }

    class func use() {
      _ = Bystander().value(forKey: "name")  // is described, and has its answers, meanwhile
      let (object, newer) = (Recursive(), Newer())
      for each in [object, newer] {
        if each.value(forKey: "name") as? String != "n" { log.add("no value") }
        let token = each.observe(\.other, options: [.new]) { _, change in
          if change.newValue != 5 { log.add("\(change)") }
        }
        each.setValue(5, forKey: "other")
        if each.other != 5 { log.add("not set") }
        token.invalidate()
        for path in [\Recursive.label, \.caption] { each.observe(path) { _, _ in }.invalidate() }
        each.observe(\.silent) { _, _ in }.invalidate()
      }
    }
  }

  private final class Newer: Recursive, @unchecked Sendable {}

  @KeyValueObservable
  private final class Bystander {
    var name = ""
  }

  @Suite("The members that describe a class's keys")
  struct DescribingTests {
    private static func changes(_ object: Recursive) -> [String] {
      let log = Log()
      let tokens = [
        object.log(\.label, to: log), object.log(\.caption, to: log), object.log(\.silent, to: log),
      ]
      object.name = "m"
      object.silent = 1
      withExtendedLifetime(tokens) {}
      return log.lines
    }

    @Test func `A member may read, set and observe objects of its own class, also if a subclass is asked first`() async
    {
      await #expect(processExitsWith: .success) {
        precondition(DescribingTests.changes(Newer()).count == 2)
        precondition(DescribingTests.changes(Recursive()).count == 2)
        precondition(Recursive.log.lines.isEmpty, "\(Recursive.log.lines)")
      }
    }

    @Test func `Threads that use a class first at the same time have its answers`() async {
      await #expect(processExitsWith: .success) {
        onThreads(4) { _ in precondition(DescribingTests.changes(Recursive()).count == 2) }
        precondition(Recursive.log.lines.isEmpty, "\(Recursive.log.lines)")
      }
    }
  }
#endif
