// Faults, and handlers that choose the action after a misuse.

import CKVO

/// A misuse of observation: one that crashes or silently fails on Apple's platforms, or is probably a mistake.
///
/// ```swift
/// KeyValueFault.setHandler { fault in
///   log(fault.report)
///   return fault.severity == .fatal ? .standard : .ignore
/// }
/// ```
/// A handler is called on the thread that causes the fault, with no lock held. Without one the environment variable `KVO_POLICY` decides,
/// and by default a fatal fault ends the process.
public struct KeyValueFault: Sendable {
  /// The code: 1 for `KVO0001`.
  public let code: Int
  /// A complete description in one line.
  public let summary: String
  /// Apple's exception message for this misuse, if there is one.
  public let appleSentence: String?
  /// The name of the exception that Apple raises, such as `NSRangeException`, if there is one.
  public let exceptionName: String?
  /// The severity of the misuse.
  public let severity: Severity
  /// What to do about it, if the report says so.
  public let help: String?
  /// The whole report as one line of JSON, as written with `KVO_REPORT=json`.
  public let json: String
  /// The whole report as written to standard error.
  public let report: String
  /// Why it is a misuse, in one sentence, if the report says so.
  public let why: String?
  /// The class of the object concerned, if there is one.
  public let objectClass: String?
  /// The file of the call that caused the fault, as from `#fileID`, if known.
  public let file: String?
  /// The line in that file.
  public let line: Int
  /// The kernel's ID of the thread that caused the fault.
  public let thread: Int
  /// The call stack of the misuse.
  public let stack: Stack
  /// Other source locations that the fault refers to, such as the first removal of an observation that is removed twice.
  public let sites: [Site]
  /// The observations concerned.
  public let observations: [Observation]
  /// The deliveries in progress on this thread, outermost first.
  public let chain: [Step]
  /// Earlier events of the object, oldest first, up to the limit that `KVO_HISTORY` sets.
  public let events: [Event]

  /// The severity of a fault, which determines the standard action.
  public enum Severity: Sendable {
    /// The report is written and the process ends.
    case fatal
    /// The report is written; the misuse has no effect, and the process continues.
    case error
    /// The report is written; neither memory nor notifications were affected.
    case warning
    /// Nothing is reported unless `KVO_POLICY` or a handler requests it, because the code may be intended.
    case info
  }

  /// The action after a fault.
  public enum Action: Sendable {
    /// The action that the environment variable `KVO_POLICY` sets, or else the default of the fault's severity.
    case standard
    /// The process continues without a report. Memory is intact.
    case ignore
    /// The report is written to standard error, and the process continues.
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

  /// Sets the fault handler of the process; `nil` removes it.
  ///
  /// The handler is called for each fault, on the thread that caused it, with no lock held. It may call anything; a fault within it
  /// takes the standard action. It stays set until it is replaced.
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

  /// Calls a function with a handler for the faults that the current thread raises meanwhile.
  ///
  /// This handler is called before the handler of the process, which is called only if this one returns `.standard`. Calls can be
  /// nested: the innermost handler replaces the outer ones.
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
  ///   - handler: The handler, called on the current thread with no lock held. It may call anything; a fault within it takes the
  ///     standard action.
  ///   - body: The code that may raise faults. It is synchronous, because the handler belongs to the thread, not to the task.
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

  /// Calls a function with a handler for the faults that the current task, and the child tasks that it starts meanwhile, raise.
  ///
  /// This handler is called after a handler of the thread (`withHandler(_:in:)`) and before the handler of the process, which is
  /// called only if this one returns `.standard`. Calls can be nested: the innermost handler replaces the outer ones. Unlike
  /// `withHandler(_:in:)`, the handler stays with the task when the task changes threads. It does not apply to code that runs
  /// outside the task on other threads. This method is an addition to Apple's API.
  ///
  /// - Parameters:
  ///   - handler: The handler, called on the thread that raises the fault with no lock held. It may call anything; a fault within
  ///     it takes the standard action.
  ///   - body: The code that may raise faults.
  public static func withTaskHandler<Result>(
    _ handler: @escaping @Sendable (KeyValueFault) -> Action, isolation: isolated (any Actor)? = #isolation,
    in body: () async throws -> Result
  ) async rethrows -> Result {
    _ = taskHandlersAreAsked
    return try await $taskHandler.withValue(handler, operation: body, isolation: isolation)
  }

  @TaskLocal private static var taskHandler: (@Sendable (KeyValueFault) -> Action)?

  /// Installed at the first use, so that programs without task handlers have no cost.
  private static let taskHandlersAreAsked: Void = {
    _ = kvo_binding_set_scope_fault_handler { fault, _ in
      (KeyValueFault.taskHandler?(KeyValueFault(fault.pointee)) ?? .standard).raw
    }
  }()

  /// The fault handler of the process.
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
