// The code of Documentation/Diagnostics.md.
#if Macros
  import KeyValueObserving
  import Testing

  extension PageTests {
    @Test func `The guide's handlers`() async {
      await #expect(processExitsWith: .success) {
        // page: Diagnostics handler
        KeyValueFault.setHandler { fault in
          print(fault.report)
          return fault.severity == .fatal ? .standard : .ignore
        }
        // page end
        KeyValueFault.setHandler(nil)
      }
      let (document, panel) = (Document(), Panel())
      // page: Diagnostics test
      var codes: [Int] = []
      KeyValueFault.withHandler { fault in
        codes.append(fault.code)
        return .ignore
      } in: {
        document.removeObserver(panel, forKeyPath: "title")
      }
      #expect(codes == [2])
      // page end
    }
  }
#endif
