// Pages whose examples are in C.
#if Macros
  import CFaultPages
  import Testing

  extension PageTests {
    @Test func `KVO0005`() throws { try page(5, example: page_KVO0005_example, remedy: page_KVO0005_remedy) }
    @Test func `KVO0007`() throws { try page(7, example: page_KVO0007_example, remedy: page_KVO0007_remedy) }
    @Test func `KVO0008`() throws { try page(8, example: page_KVO0008_example, remedy: page_KVO0008_remedy) }
    @Test func `KVO0012`() throws { try page(12, example: page_KVO0012_example, remedy: page_KVO0012_remedy) }
    @Test func `KVO0021`() throws { try page(21, example: page_KVO0021_example, remedy: page_KVO0021_remedy) }
    @Test func `KVO0025`() throws { try page(25, example: page_KVO0025_example, remedy: page_KVO0025_remedy) }

    @Test func `KVO0020: the page's example raises nothing if executable memory is available`() {
      #expect(Recorder().record(page_KVO0020_remedy).isEmpty)
    }
  }
#endif
