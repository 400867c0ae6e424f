// The graph of observations: its values, and its text as JSON.
#if Macros
  import CSupport
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("The graph of observations")
  struct GraphCodingTests {
    @Test("decodes from its JSON as it was")
    func decodes() throws {
      let (document, panel, listener) = (Document(), Panel(), ClassicListener())
      let context = UnsafeMutableRawPointer(bitPattern: 8)
      document.addObserver(listener, forKeyPath: "title", options: [.old, .new], context: context)
      document.observe(\.title, options: [.initial, .prior], for: panel, userInfo: "a note") { _, _, _ in }
      let tokens = [document.observe(\.summary) { _, _ in }, panel.observe(\.caption) { _, _ in }]
      let graph = ObservationGraph.current()
      let decoded = try JSONDecoder().decode(ObservationGraph.self, from: Data(graph.json.utf8))
      #expect(decoded == graph)
      document.removeObserver(listener)
      for token in tokens { token.invalidate() }
    }

    @Test("says which observations end with their object")
    func ends() {
      let (document, listener) = (Document(), ClassicListener())
      document.addObserver(listener, forKeyPath: "title")
      let token = document.observe(\.title) { _, _ in }
      let graph = ObservationGraph.current()
      let address = UInt64(UInt(bitPattern: Unmanaged.passUnretained(document).toOpaque()))
      let own = graph.observations.filter { graph.objects[$0.object].address.rawValue == address }
      #expect(own.map(\.endsWithObject) == [false, true])
      document.removeObserver(listener, forKeyPath: "title")
      token.invalidate()
    }

    @Test("has addresses in hexadecimal, and decodes nothing else")
    func addresses() throws {
      func decoded(_ json: String) throws -> [ObservationGraph.Address] {
        try JSONDecoder().decode([ObservationGraph.Address].self, from: Data(json.utf8))
      }
      #expect(try decoded(#"["0x1f", "0x0"]"#).map(\.rawValue) == [31, 0])
      #expect(throws: DecodingError.self) { try decoded(#"["1f"]"#) }
      #expect(throws: DecodingError.self) { try decoded(#"["0xg"]"#) }
    }

    @Test("leaves no memory behind when it is written")
    func leavesNothing() async {
      await #expect(processExitsWith: .success) {
        let document = Document()
        let token = document.observe(\.title) { _, _ in }
        let graph = ObservationGraph.current()
        func write() { for _ in 0..<2_000 { _ = graph.json } }
        write()
        let before = csupport_allocated()
        write()
        precondition(csupport_allocated() < before + 100_000)
        token.invalidate()
      }
    }
  }

  @Suite("A recording")
  struct RecordingTests {
    @Test("is one at a time, and is complete when it has ended")
    func oneAtATime() async {
      await #expect(processExitsWith: .success) {
        let path = NSTemporaryDirectory() + "kvo-recording-\(ProcessInfo.processInfo.processIdentifier).json"
        defer { try? FileManager.default.removeItem(atPath: path) }
        precondition(Recording.end() == nil)
        precondition(Recording.begin(path) == nil)
        precondition(Recording.begin(path) == .isRecording)
        let document = Document()
        let token = document.observe(\.title) { _, _ in }
        document.title = "A"
        token.invalidate()
        precondition(Recording.end() == nil)
        precondition(Recording.end() == nil)
        let text = try? String(contentsOfFile: path, encoding: .utf8)
        precondition(text?.contains("title") == true)
        precondition(Recording.begin("/nowhere/recording.json") == .fileCannotBeWritten)
      }
    }
  }

  /// The failures of a recording as values.
  private enum Recording {
    static func begin(_ path: String) -> ObservationTrace.Failure? {
      do {
        try ObservationTrace.begin(writingTo: path)
        return nil
      } catch {
        return error
      }
    }

    static func end() -> ObservationTrace.Failure? {
      do {
        try ObservationTrace.end()
        return nil
      } catch {
        return error
      }
    }
  }
#endif
