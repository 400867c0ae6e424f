// Pages whose examples are in C.
#if Macros
  import CFaultPages
  import Testing

  extension PageTests {
    @Test func `The examples in C raise their faults, and the remedies raise nothing`() {
      page(5, example: page_KVO0005_example, remedy: page_KVO0005_remedy)
      page(7, example: page_KVO0007_example, remedy: page_KVO0007_remedy)
      page(8, example: page_KVO0008_example, remedy: page_KVO0008_remedy)
      page(12, example: page_KVO0012_example, remedy: page_KVO0012_remedy)
      page(21, example: page_KVO0021_example, remedy: page_KVO0021_remedy)
      page(25, example: page_KVO0025_example, remedy: page_KVO0025_remedy)
    }

    @Test func `KVO0020: the page's example raises nothing if executable memory is available`() {
      #expect(Recorder().record(page_KVO0020_remedy).isEmpty)
    }
  }
#endif
