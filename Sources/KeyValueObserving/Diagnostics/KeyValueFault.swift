// Faults as a program sees them: a handler that decides what happens after a misuse.

import CKVO

/// A misuse of observing that would crash on Apple's platforms.
public struct KeyValueFault: Sendable {
  /// An observation that a fault is about.
  public struct Observation: Sendable {
    /// The key path as registered.
    public let keyPath: String
    /// The class of the observer, when it is known.
    public let observerClass: String?
    /// The file in which the observation was made, as `#fileID` gives it, when it is known.
    public let file: String?
    /// The line.
    public let line: Int
  }

  /// The number in `KVO0001`.
  public let code: Int
  /// One line, complete in itself.
  public let summary: String
  /// Apple's sentence for this misuse, where Apple has one.
  public let appleSentence: String?
  /// The name of the exception that Apple raises, such as `NSRangeException`, where Apple raises one.
  public let exceptionName: String?
  /// How bad it is.
  public let severity: Severity
  /// What to do about it, where the report says so.
  public let help: String?
  /// The whole report as one line of JSON, as `KVO_REPORT=json` has it written.
  public let json: String
  /// The whole report as it is written to standard error.
  public let report: String
  /// The observations that are concerned.
  public let observations: [Observation]

  /// How bad a fault is; decides what happens by default.
  public enum Severity: Sendable {
    /// The process ends.
    case fatal
    /// Reported; what was wrong has no effect, and the process goes on.
    case error
    /// Reported; nothing was wrong with memory or with what observers were told.
    case warning
    /// Not reported unless `KVO_POLICY` or a handler asks for it: what is often meant.
    case info
  }

  /// What happens after a fault.
  public enum Action: Sendable {
    /// What the environment variable `KVO_POLICY` says, otherwise the end of the process.
    case standard
    /// The program goes on in silence, with memory intact.
    case ignore
    /// The report is written to standard error, and the program goes on.
    case log
    /// The report is written to standard error, and the process ends with SIGABRT.
    case abort

    fileprivate var raw: kvo_action {
      switch self {
      case .standard: KVO_ACTION_DEFAULT
      case .ignore: KVO_ACTION_IGNORE
      case .log: KVO_ACTION_LOG
      case .abort: KVO_ACTION_ABORT
      }
    }
  }

  /// Sets the handler of the process, `nil` for none.
  ///
  /// It is called for each fault, on the thread that caused it, with no lock held, and may do anything; a fault within it takes the
  /// standard action. It lasts until it is replaced.
  public static func setHandler(_ handler: (@Sendable (KeyValueFault) -> Action)?) {
    current.withLock { $0 = handler }
    guard handler != nil else {
      kvo_set_fault_handler(nil, nil)
      return
    }
    kvo_set_fault_handler(
      { fault, _ in
        (KeyValueFault.current.withLock { $0 }?(KeyValueFault(fault.pointee)) ?? .standard).raw
      }, nil)
  }

  /// Runs a function with a handler for the faults that this thread raises meanwhile.
  ///
  /// It is asked before the handler of the process, which is asked when it answers `.standard`. They nest: within `body` another
  /// handler stands in for this one.
  ///
  /// ```swift
  /// var codes: [Int] = []
  /// KeyValueFault.withHandler { fault in
  ///   codes.append(fault.code)
  ///   return .ignore
  /// } in: {
  ///   document.removeObserver(watcher, forKeyPath: "title")
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - handler: Called on this thread, with no lock held; it may do anything. A fault within it takes the standard action.
  ///   - body: What may raise faults. It must not suspend: the handler is the thread's, not the task's.
  public static func withHandler<Result, Failure>(
    _ handler: (KeyValueFault) -> Action, in body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withoutActuallyEscaping(handler) { (handler) throws(Failure) in
      try withUnsafePointer(to: handler) { (pointer) throws(Failure) in
        var outerArgument: UnsafeMutableRawPointer?
        let outer = kvo_get_thread_fault_handler(&outerArgument)
        _ = kvo_set_thread_fault_handler(
          { fault, argument in
            let handler = argument!.assumingMemoryBound(to: ((KeyValueFault) -> Action).self).pointee
            return handler(KeyValueFault(fault.pointee)).raw
          }, UnsafeMutableRawPointer(mutating: pointer))
        defer { _ = kvo_set_thread_fault_handler(outer, outerArgument) }
        return try body()
      }
    }
  }

  private static let current = Guarded<(@Sendable (KeyValueFault) -> Action)?>(nil)

  private init(_ fault: kvo_fault) {
    code = Int(fault.code.rawValue)
    summary = String(cString: fault.summary)
    appleSentence = fault.apple.map { String(cString: $0) }
    exceptionName = fault.exception.map { String(cString: $0) }
    severity =
      switch fault.severity {
      case KVO_SEVERITY_FATAL: .fatal
      case KVO_SEVERITY_ERROR: .error
      case KVO_SEVERITY_WARNING: .warning
      default: .info
      }
    help = fault.help.map { String(cString: $0) }
    report = Self.format(fault, KVO_REPORT_TEXT)
    json = Self.format(fault, KVO_REPORT_JSON)
    observations = UnsafeBufferPointer(start: fault.observations, count: fault.observation_count).map { described in
      let file = described.file.map { pointer in
        String(decoding: UnsafeRawBufferPointer(start: pointer, count: described.file_length), as: UTF8.self)
      }
      return Observation(
        keyPath: String(cString: described.key_path),
        observerClass: described.observer_class.map { String(cString: $0) },
        file: file, line: Int(described.line))
    }
  }

  private static func format(_ fault: kvo_fault, _ format: kvo_report_format) -> String {
    withUnsafePointer(to: fault) { fault in
      let length = kvo_fault_format(fault, format, nil, 0)
      return withUnsafeTemporaryAllocation(of: CChar.self, capacity: length + 1) { buffer in
        _ = kvo_fault_format(fault, format, buffer.baseAddress, buffer.count)
        return String(cString: buffer.baseAddress!)
      }
    }
  }
}
