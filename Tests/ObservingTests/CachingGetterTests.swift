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
    var seen: [Int] = []
    var appending: Int {
      seen.append(rows)
      return rows
    }
  }

  @Suite("A getter that sets what it reads")
  struct CachingGetterTests {
    private let report = Report()
    private let log = Log()

    private func observeAll(_ keyPath: KeyPath<Report, Int> & Sendable, _ body: () -> Void) -> [[String]] {
      var told: [[String]] = []
      for options in [[.new], [.old, .new], [.old, .new, .distinct]] as [NSKeyValueObservingOptions] {
        report.rows = 1
        let token = report.observe(keyPath, options: options) { [log] _, change in
          log.add("\(change.oldValue ?? change.newValue!) \(change.newValue!)")
        }
        body()
        token.invalidate()
        told.append(log.take())
      }
      report.rows = 1
      let token = report.onChange(of: keyPath) { [log] old, new in log.add("\(old) \(new)") }
      body()
      token.invalidate()
      return told + [log.take()]
    }

    @Test func `that fills a cache is observed with every option, and the last value is right`() {
      for told in observeAll(\.total, { report.rows = 5 }) {
        #expect(told.last?.hasSuffix(" 10") == true)
        #expect(told.count <= 2)
      }
      report.rows = 1
      let token = report.onChange(of: \.total) { [log] old, new in log.add("\(old) \(new)") }
      report.rows = 6
      #expect(log.take().last == "2 12")
      report.rows = 7
      #expect(log.take().last == "12 14")
      token.invalidate()
    }

    @Test func `that creates an object on first use is observed through that object`() {
      let token = report.onChange(of: \.part.rows) { [log] old, new in log.add("\(old) \(new)") }
      report.made?.rows = 7
      #expect(log.take() == ["1 7"])
      report.made = nil
      #expect(log.take().last == "7 1")
      report.made?.rows = 3
      #expect(log.take() == ["1 3"])
      token.invalidate()
    }

    @Test func `each time is not evaluated without end`() {
      let keyPaths: [KeyPath<Report, Int> & Sendable] = [\.toggling, \.same, \.appending]
      for keyPath in keyPaths {
        for told in observeAll(keyPath, { report.rows = 5 }) { #expect(told.last?.hasSuffix(" 5") == true) }
      }
    }

    @Test func `that creates a new object each time is no misuse, with the old value either`() {
      var codes: [Int] = []
      KeyValueFault.withHandler {
        codes.append($0.code)
        return .ignore
      } in: {
        let token = report.observe(\.fresh.rows, options: [.old, .new]) { [log] _, change in
          log.add("\(change.oldValue!) \(change.newValue!)")
        }
        report.rows = 5
        report.made?.rows = 5
        report.made = nil
        #expect(log.take().last == "1 1")
        token.invalidate()
      }
      #expect(codes.isEmpty)
    }

    @Test func `whose key a classic observer observes is told with the old value`() {
      let observer = Recorder()
      report.addObserver(observer, forKeyPath: "total", options: [.old, .new, .endsWithObject])
      report.rows = 5
      #expect(observer.changes.last == "2 10")
      report.removeObserver(observer, forKeyPath: "total")
    }
  }

  private final class Recorder: KeyValueObserver, @unchecked Sendable {
    var changes: [String] = []
    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      changes.append("\(change?[.oldKey] ?? "-") \(change?[.newKey] ?? "-")")
    }
  }
#endif
