// Asynchronous operations: manual announcements notify Foundation's queue and our observers.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  /// The classic implementation: two flags, one announced by its string key, and one by its key path.
  @KeyValueObservable
  private final class FlagOperation: Operation, @unchecked Sendable {
    private let lock = NSLock()
    private var _executing = false
    private var _finished = false

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { lock.withLock { _executing } }
    override var isFinished: Bool { lock.withLock { _finished } }

    override func start() {
      if isCancelled {
        willChangeValue(for: \.isFinished)
        lock.withLock { _finished = true }
        didChangeValue(for: \.isFinished)
        return
      }
      self.willChangeValue(forKey: "isExecuting")
      lock.withLock { _executing = true }
      self.didChangeValue(forKey: "isExecuting")
      DispatchQueue.global().async { [weak self] in self?.finish() }
    }

    private func finish() {
      willChangeValue(forKey: "isExecuting")
      willChangeValue(for: \.isFinished)
      lock.withLock { (_executing, _finished) = (false, true) }
      didChangeValue(forKey: "isExecuting")
      didChangeValue(for: \.isFinished)
    }
  }

  /// One state, whose setter announces the keys of the old and the new state.
  @KeyValueObservable
  private class StateOperation: Operation, @unchecked Sendable {
    enum State: String {
      case ready, executing, finished
      var keyPath: String { "is" + rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
    }

    private let access = DispatchQueue(label: "state", attributes: .concurrent)
    private var stored = State.ready

    var state: State {
      get { access.sync { stored } }
      set {
        let oldValue = state
        willChangeValue(forKey: oldValue.keyPath)
        willChangeValue(forKey: newValue.keyPath)
        access.sync(flags: .barrier) { stored = newValue }
        didChangeValue(forKey: oldValue.keyPath)
        didChangeValue(forKey: newValue.keyPath)
      }
    }

    override var isReady: Bool { super.isReady && state == .ready }
    override var isExecuting: Bool { state == .executing }
    override var isFinished: Bool { state == .finished }
    override var isAsynchronous: Bool { true }

    override func start() {
      guard !isCancelled else {
        state = .finished
        return
      }
      state = .executing
      main()
    }

    override func main() { DispatchQueue.global().async { self.state = .finished } }
  }

  /// Adds nothing to the announcements of its superclass.
  private final class Download: StateOperation, @unchecked Sendable {}

  /// Declares the dependencies of its states, and announces nothing.
  @KeyValueObservable
  private final class DeclaringOperation: Operation, @unchecked Sendable {
    private let lock = NSLock()
    @NotObserved private var stored = 0
    var phase: Int {
      get { lock.withLock { stored } }
      set {
        willChangeValue(forKey: "phase")
        lock.withLock { stored = newValue }
        didChangeValue(forKey: "phase")
      }
    }
    override var isExecuting: Bool { phase == 1 }
    override var isFinished: Bool { phase == 2 }
    class func keyPathsForValuesAffectingIsExecuting() -> Set<String> { ["phase"] }
    class func keyPathsForValuesAffectingIsFinished() -> Set<String> { ["phase"] }

    override func start() {
      phase = 1
      DispatchQueue.global().async { self.phase = 2 }
    }
  }

  @Suite("Asynchronous operations", .serialized, .timeLimit(.minutes(2)))
  struct OperationTests {
    private static let states = ["isExecuting", "isFinished"]

    /// The entries of a log of one state.
    private func changes(of key: String, in log: Log) -> [String] { log.lines.filter { $0.hasPrefix(key) } }

    /// Runs fifty operations, four at a time, some cancelled, some dependent on others. The states of each are observed by string and
    /// by key path, which must agree.
    private func run<Op: Operation & KeyValueObservable>(
      _ make: () -> Op, executing: KeyPath<Op, Bool>, finished: KeyPath<Op, Bool>
    ) {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 4
      var runs: [(operation: Op, watcher: Watcher, typed: Log, tokens: [NSKeyValueObservation])] = []
      for index in 0..<50 {
        let (operation, watcher, typed) = (make(), Watcher(), Log())
        for key in Self.states { operation.addObserver(watcher, forKeyPath: key, options: [.new]) }
        let tokens = [
          operation.log(executing, [.new], as: "isExecuting ", to: typed),
          operation.log(finished, [.new], as: "isFinished ", to: typed),
        ]
        if index % 7 == 3, index > 7 { operation.addDependency(runs[index - 7].operation) }
        if index % 10 == 9 { operation.cancel() }
        runs.append((operation, watcher, typed, tokens))
      }
      for run in runs { queue.addOperation(run.operation) }
      queue.waitUntilAllOperationsAreFinished()
      for (operation, watcher, typed, _) in runs {
        #expect(operation.isFinished && !operation.isExecuting)
        let executing = operation.isCancelled ? [] : ["isExecuting ->true", "isExecuting ->false"]
        for log in [watcher.log, typed] {
          #expect(changes(of: "isExecuting", in: log) == executing)
          #expect(changes(of: "isFinished", in: log) == ["isFinished ->true"])
        }
        for key in Self.states { operation.removeObserver(watcher, forKeyPath: key) }
      }
    }

    @Test
    func `Flags announced by string or key path, and a locked state: the queue and observers get each change once`() {
      run({ FlagOperation() }, executing: \.isExecuting, finished: \.isFinished)
      run({ Download() }, executing: \.isExecuting, finished: \.isFinished)
    }

    @Test func `A state that is declared as dependent on others is announced to the queue too`() {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 4
      let (operations, watcher) = ((0..<100).map { _ in DeclaringOperation() }, Watcher())
      operations[0].addObserver(watcher, forKeyPath: "isFinished", options: [.new])
      queue.addOperations(operations, waitUntilFinished: false)
      queue.waitUntilAllOperationsAreFinished()
      #expect(operations.allSatisfy { $0.isFinished })
      // As on Apple's platforms, each change of a dependency is a change of the dependent key.
      #expect(watcher.log.lines == ["isFinished ->false", "isFinished ->true"])
      operations[0].removeObserver(watcher, forKeyPath: "isFinished")
    }

    @Test func `States that an operation does not override come from Foundation, and can be announced`() {
      let (operation, watcher) = (FlagOperation(), Watcher())
      #expect(operation.value(forKey: "isReady") as? Bool == true)
      operation.addObserver(watcher, forKeyPath: "isCancelled", options: [.new])
      operation.cancel()
      operation.willChangeValue(forKey: "isCancelled")
      operation.didChangeValue(forKey: "isCancelled")
      let erased: any KeyValueObservable = operation
      erased.willChangeValue(forKey: "isCancelled")
      erased.didChangeValue(forKey: "isCancelled")
      _KeyValueOperationAnnouncement(operation, isDone: false).callAsFunction(for: \Operation.isCancelled)
      _KeyValueOperationAnnouncement(operation, isDone: true).callAsFunction(for: \Operation.isCancelled)
      #expect(watcher.log.lines == ["isCancelled ->true", "isCancelled ->true", "isCancelled ->true"])
      operation.removeObserver(watcher, forKeyPath: "isCancelled")
    }
  }
#endif
