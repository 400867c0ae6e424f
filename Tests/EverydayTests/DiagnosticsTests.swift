// What programs see of observations: the graph and its JSON, user info, recordings, and what faults know.
#if Macros
  import CKVO
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("The graph of observations")
  struct GraphTests {
    private let document = Document()
    private let panel = Panel()
    private let listener = ClassicListener()

    @Test("decodes from its JSON, and from its encoding, as it was")
    func decodes() throws {
      let context = UnsafeMutableRawPointer(bitPattern: 8)
      document.addObserver(listener, forKeyPath: "title", options: [.old, .new], context: context)
      document.observe(\.title, options: [.initial, .prior], for: panel, userInfo: "a note") { _, _, _ in }
      let tokens = [document.observe(\.summary) { _, _ in }, panel.observe(\.caption) { _, _ in }]
      let graph = ObservationGraph.current()
      let decoded = try JSONDecoder().decode(ObservationGraph.self, from: Data(graph.json.utf8))
      #expect(decoded == graph && !graph.edges.isEmpty)
      #expect(try JSONDecoder().decode(ObservationGraph.self, from: JSONEncoder().encode(graph)) == graph)
      #expect(graphed(document).count { !$0.endsWithObject } == 1, "the classic one")
      document.removeObserver(listener)
      for token in tokens { token.invalidate() }
    }

    @Test("has addresses in hexadecimal, and decodes nothing else")
    func addresses() throws {
      func decoded(_ json: String) throws -> [ObservationGraph.Address] {
        try JSONDecoder().decode([ObservationGraph.Address].self, from: Data(json.utf8))
      }
      #expect(try decoded(#"["0x1f", "0x0"]"#).map(\.rawValue) == [31, 0])
      for json in [#"["1f"]"#, #"["0xg"]"#] { #expect(throws: DecodingError.self) { try decoded(json) } }
    }

    @Test("has the user info of classic observers and receivers, and says what is a stream")
    func userInfo() {
      document.addObserver(listener, forKeyPath: "title", userInfo: "page 1")
      document.addObserver(listener, forKeyPath: "pages")
      document.observe(\.title, for: panel, userInfo: 7) { _, _, _ in }
      document.onChange(of: \.title, for: panel, userInfo: "values") { _, _, _ in }
      document.source("author.name").observe(for: panel, userInfo: "string") { _, _ in }
      let stream = document.values(of: \.title)
      let notes = graphed(document).map { $0.note ?? "-" }
      let expected = ["-", "stream"] + ["7", "page 1", "string", "values"].map { "userInfo \($0)" }
      #expect(notes.sorted() == expected)
      withExtendedLifetime(stream) {}
      document.removeObserver(listener)
    }
  }

  @Suite("A fault")
  struct FaultEvidenceTests {
    private let document = Document()
    private let listener = ClassicListener()

    @Test("knows when and on which thread something happened that it refers to, but not for a registration")
    func places() throws {
      document.addObserver(listener, forKeyPath: "title")
      document.removeObserver(listener, forKeyPath: "title")
      let twice = try #require(raised { document.removeObserver(listener, forKeyPath: "title") }.first)
      let removal = try #require(twice.sites.first)
      #expect(twice.kind == .removedTwice && removal.file == #fileID)
      #expect(removal.thread == twice.thread && removal.age != nil)
      let (one, other) = (Document(), Document())
      other.addObserver(listener, forKeyPath: "title")
      let missing = try #require(raised { one.removeObserver(listener, forKeyPath: "title") }.first)
      let registration = try #require(missing.sites.first)
      #expect(missing.kind == .notRegistered && registration.file == #fileID)
      #expect(registration.thread == nil && registration.age == nil)
      other.removeObserver(listener, forKeyPath: "title")
    }

    @Test("has the user info of the observation in its report")
    func userInfo() {
      var document: Document? = Document()
      document!.addObserver(listener, forKeyPath: "title", userInfo: "the first page")
      let reports = raised { document = nil }.map(\.report)
      #expect(reports.count == 1 && reports[0].contains("userInfo the first page"))
    }

    @Test("calls no handler of the process any more when that is set to nil")
    func noHandler() async {
      await #expect(processExitsWith: .success) {
        KeyValueFault.setHandler { _ in .ignore }
        precondition(kvo_get_fault_handler(nil) != nil)
        KeyValueFault.setHandler(nil)
        precondition(kvo_get_fault_handler(nil) == nil)
      }
    }
  }

  @Suite("A recording")
  struct RecordingTests {
    @Test("is one at a time, and is complete when it has ended")
    func oneAtATime() async {
      await #expect(processExitsWith: .success) {
        func failure(_ body: () throws -> Void) -> ObservationTrace.Failure? {
          do { try body() } catch { return error as? ObservationTrace.Failure }
          return nil
        }
        func begin(_ path: String) -> ObservationTrace.Failure? {
          failure { try ObservationTrace.begin(writingTo: path) }
        }
        func end() -> ObservationTrace.Failure? { failure { try ObservationTrace.end() } }
        let path = NSTemporaryDirectory() + "kvo-recording-\(ProcessInfo.processInfo.processIdentifier).json"
        defer { try? FileManager.default.removeItem(atPath: path) }
        precondition(end() == nil)
        precondition(begin(path) == nil)
        precondition(begin(path) == .isRecording)
        let document = Document()
        let token = document.observe(\.title) { _, _ in }
        document.title = "A"
        token.invalidate()
        precondition(end() == nil && end() == nil)
        precondition(try! String(contentsOfFile: path, encoding: .utf8).contains("title"))
        precondition(begin("/nowhere/recording.json") == .fileCannotBeWritten)
      }
    }
  }
#endif
