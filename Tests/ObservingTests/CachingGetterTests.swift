// Getters that set what they read: those that fill a cache or create an object on first use, and those that set each time.
#if Macros
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  private final class Report {
    var rows = 1 { didSet { cache = nil } }
    var cache: Int?
    var total: Int {
      if let cache { return cache }
      let computed = rows * 2
      cache = computed
      return computed
    }
    var made: Report?
    var part: Report {
      if let made { return made }
      let new = Report()
      made = new
      return new
    }
    var fresh: Report {
      let new = Report()
      made = new
      return made!
    }
    var parity = 0
    var toggling: Int {
      parity = 1 - parity
      return rows
    }
    var same: Int {
      rows = rows
      return rows
    }
  }

  @Suite("A getter that sets what it reads")
  struct CachingGetterTests {
    private let report = Report()
    private let log = Log()

    @Test func `has its last value delivered with every option, and is not evaluated without end`() {
      let rows: [(name: String, KeyPath<Report, Int> & Sendable, last: String)] = [
        ("a cache", \.total, ">10"), ("toggling", \.toggling, ">5"), ("the same value", \.same, ">5"),
      ]
      for (name, keyPath, last) in rows {
        for options in [[.new], [.old, .new], [.old, .new, .distinct]] as [NSKeyValueObservingOptions] {
          report.rows = 1
          let token = report.log(keyPath, options, to: log)
          report.rows = 5
          token.invalidate()
          let lines = log.take()
          #expect(lines.last?.hasSuffix(last) == true, "\(name), \(options)")
          #expect(name != "a cache" || lines.count <= 2, "\(options)")
        }
      }
    }

    @Test func `and creates an object on first use is observed through that object`() {
      let token = report.onChange(of: \.part.rows) { [log] old, new in log.add("\(old)>\(new)") }
      report.made?.rows = 7
      #expect(log.take() == ["1>7"])
      report.made = nil
      #expect(log.take().last == "7>1")
      report.made?.rows = 3
      #expect(log.take() == ["1>3"])
      token.invalidate()
    }

    @Test func `and creates a new object each time raises no fault`() {
      let raised = faults {
        let token = report.log(\.fresh.rows, to: log)
        report.rows = 5
        report.made?.rows = 5
        report.made = nil
        #expect(log.take().last == "1>1")
        token.invalidate()
      }
      #expect(raised.isEmpty)
    }
  }
#endif
