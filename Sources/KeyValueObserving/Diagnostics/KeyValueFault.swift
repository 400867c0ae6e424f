// Faults as a program sees them: a handler that decides what happens after a misuse.

import CKVO

/// A misuse of observing: one that crashes on Apple's platforms, goes wrong there in silence, or is likely a mistake.
public struct KeyValueFault: Sendable {
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
  /// Why it is a misuse, in one sentence, where the report says so.
  public let why: String?
  /// The class of the object concerned, when there is one.
  public let objectClass: String?
  /// The file in which the misuse happened, as `#fileID` gives it, when it is known.
  public let file: String?
  /// The line.
  public let line: Int
  /// The kernel's number of the thread that caused it.
  public let thread: Int
  /// The calls that led to the misuse.
  public let stack: Stack
  /// Other places that it is about, such as the first removal of an observation that is removed again.
  public let sites: [Site]
  /// The observations that are concerned.
  public let observations: [Observation]
  /// The deliveries in progress on this thread, outermost first.
  public let chain: [Step]
  /// What happened to the object before, oldest first, as far as `KVO_HISTORY` remembers.
  public let events: [Event]

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
    current.withLock { $0 = handler.map(Handler.init) }
    guard handler != nil else {
      kvo_set_fault_handler(nil, nil)
      return
    }
    kvo_set_fault_handler(
      { fault, _ in
        (KeyValueFault.current.withLock { $0 }?.decide(KeyValueFault(fault.pointee)) ?? .standard).raw
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

  /// Runs a function with a handler for the faults that this task, and the child tasks that it starts meanwhile, raise.
  ///
  /// It is asked after a handler of the thread (`withHandler(_:in:)`) and before that of the process, which is asked when it answers
  /// `.standard`. They nest: within `body` another handler stands in for this one. Unlike `withHandler(_:in:)` it follows the task from
  /// thread to thread. Code that runs on threads of its own, outside of the task, does not have it. Our addition.
  ///
  /// - Parameters:
  ///   - handler: Called on the thread that raises the fault, with no lock held; it may do anything. A fault within it takes the
  ///     standard action.
  ///   - body: What may raise faults.
  public static func withTaskHandler<Result>(
    _ handler: @escaping @Sendable (KeyValueFault) -> Action, isolation: isolated (any Actor)? = #isolation,
    in body: () async throws -> Result
  ) async rethrows -> Result {
    _ = taskHandlersAreAsked
    return try await $taskHandler.withValue(handler, operation: body, isolation: isolation)
  }

  @TaskLocal private static var taskHandler: (@Sendable (KeyValueFault) -> Action)?

  /// Installed at the first use: a program that has none pays nothing.
  private static let taskHandlersAreAsked: Void = {
    _ = kvo_binding_set_scope_fault_handler { fault, _ in
      (KeyValueFault.taskHandler?(KeyValueFault(fault.pointee)) ?? .standard).raw
    }
  }()

  /// A handler of the process.
  private struct Handler: Sendable {
    let decide: @Sendable (KeyValueFault) -> Action
  }

  private static let current = Guarded<Handler?>(nil)

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
    why = fault.why.map { String(cString: $0) }
    objectClass = fault.object_class.map { String(cString: $0) }
    file = string(fault.file, length: fault.file_length)
    line = Int(fault.line)
    thread = Int(fault.thread)
    stack = Stack(fault.frames, count: fault.frame_count)
    sites = UnsafeBufferPointer(start: fault.sites, count: fault.site_count).map(Site.init)
    observations = UnsafeBufferPointer(start: fault.observations, count: fault.observation_count)
      .map(Observation.init)
    chain = UnsafeBufferPointer(start: fault.chain, count: fault.chain_count).map(Step.init)
    events = UnsafeBufferPointer(start: fault.events, count: fault.event_count).map(Event.init)
  }

  private static func format(_ fault: kvo_fault, _ format: kvo_report_format) -> String {
    withUnsafePointer(to: fault) { fault in formatted { kvo_fault_format(fault, format, $0, $1) } }
  }
}
