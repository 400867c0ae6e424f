// The faults of a call.
#if Macros
  import KeyValueObserving

  /// Calls a function and returns the codes of the faults that it raises on this thread.
  func faults(in body: () -> Void) -> [Int] {
    let codes = Log<Int>()
    KeyValueFault.withHandler {
      codes.add($0.code)
      return .ignore
    } in: {
      body()
    }
    return codes.all
  }
#endif
