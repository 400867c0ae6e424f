// The user info of an observation, which reports and the graph show.
#if Macros
  import KeyValueObserving
  import Testing

  @Suite("The user info of an observation")
  struct UserInfoTests {
    private func notes(of document: Document) -> [String?] {
      let graph = ObservationGraph.current()
      let address = UInt64(UInt(bitPattern: Unmanaged.passUnretained(document).toOpaque()))
      return graph.observations.filter { graph.objects[$0.object].address.rawValue == address }.map(\.note)
    }

    @Test("is in the graph: of classic observers, receivers and controllers")
    func graph() {
      let (document, listener, panel) = (Document(), ClassicListener(), Panel())
      document.addObserver(listener, forKeyPath: "title", userInfo: "page 1")
      #expect(notes(of: document) == ["userInfo page 1"])
      document.removeObserver(listener, forKeyPath: "title")
      document.observe(\.title, for: panel, userInfo: 7) { _, _, _ in }
      #expect(notes(of: document) == ["userInfo 7"])
      document.stopObserving(for: panel)
      document.onChange(of: \.title, for: panel, userInfo: "values") { _, _, _ in }
      #expect(notes(of: document) == ["userInfo values"])
      document.stopObserving(for: panel)
      let controller = KeyValueObservationController(observer: panel)
      controller.observe(document, \.title, userInfo: "typed") { _, _, _ in }
      #expect(notes(of: document) == ["userInfo typed"])
      controller.unobserveAll()
      controller.observe(document, "author.name", userInfo: "string") { _, _, _ in }
      #expect(notes(of: document) == ["userInfo string"])
      controller.unobserveAll()
      document.addObserver(listener, forKeyPath: "title")
      #expect(notes(of: document) == [nil])
      document.removeObserver(listener)
    }

    @Test("is in reports")
    func reports() {
      let reports = Log<String>()
      let listener = ClassicListener()
      var document: Document? = Document()
      document!.addObserver(listener, forKeyPath: "title", userInfo: "the first page")
      KeyValueFault.withHandler {
        reports.add($0.report)
        return .ignore
      } in: {
        document = nil
      }
      #expect(reports.all.count == 1 && reports.all[0].contains("userInfo the first page"))
    }
  }
#endif
