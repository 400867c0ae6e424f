// Asynchronous operations: manual announcements notify Foundation's queue and our observers.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  /// The classic implementation: two flags, each announced by its string key.
  @KeyValueObservable
  private class FlagOperation: Operation, @unchecked Sendable {
    private let lock = NSLock()
    private var _executing = false
    private var _finished = false

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { lock.withLock { _executing } }
    override var isFinished: Bool { lock.withLock { _finished } }

    override func start() {
      if isCancelled {
        willChangeValue(forKey: "isFinished")
        lock.withLock { _finished = true }
        didChangeValue(forKey: "isFinished")
        return
      }
      self.willChangeValue(forKey: "isExecuting")
      lock.withLock { _executing = true }
      self.didChangeValue(forKey: "isExecuting")
      DispatchQueue.global().async { [weak self] in self?.finish() }
    }

    private func finish() {
      willChangeValue(forKey: "isExecuting")
      willChangeValue(forKey: "isFinished")
      lock.withLock { (_executing, _finished) = (false, true) }
      didChangeValue(forKey: "isExecuting")
      didChangeValue(forKey: "isFinished")
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

  /// One state with willSet and didSet, for one thread at a time.
  @KeyValueObservable
  private class WillSetOperation: Operation, @unchecked Sendable {
    var state = StateOperation.State.ready {
      willSet {
        willChangeValue(forKey: state.keyPath)
        willChangeValue(forKey: newValue.keyPath)
      }
      didSet {
        didChangeValue(forKey: oldValue.keyPath)
        didChangeValue(forKey: state.keyPath)
      }
    }

    override var isExecuting: Bool { state == .executing }
    override var isFinished: Bool { state == .finished }
    override var isAsynchronous: Bool { true }

    override func start() {
      if !isCancelled { state = .executing }
      state = .finished
    }
  }

  /// Properties that were `@objc dynamic`, with setters that announce by key path.
  @KeyValueObservable
  private class DynamicOperation: Operation, @unchecked Sendable {
    private let lock = NSLock()
    private var flags = (executing: false, finished: false)

    override dynamic var isExecuting: Bool {
      get { lock.withLock { flags.executing } }
      set {
        willChangeValue(for: \.isExecuting)
        lock.withLock { flags.executing = newValue }
        didChangeValue(for: \.isExecuting)
      }
    }
    override dynamic var isFinished: Bool {
      get { lock.withLock { flags.finished } }
      set {
        willChangeValue(for: \DynamicOperation.isFinished)
        lock.withLock { flags.finished = newValue }
        didChangeValue(for: \DynamicOperation.isFinished)
      }
    }

    override func start() {
      if isCancelled {
        isFinished = true
        return
      }
      isExecuting = true
      DispatchQueue.global().async {
        self.isExecuting = false
        self.isFinished = true
      }
    }
  }

  /// Adds nothing to the announcements of its superclass.
  private final class Download: FlagOperation, @unchecked Sendable {}

  /// An additional key, announced manually, that Foundation does not know.
  @KeyValueObservable
  private final class ProgressOperation: StateOperation, @unchecked Sendable {
    @NotObserved private let guarded = NSLock()
    @NotObserved private var steps = 0
    var progress: Int { guarded.withLock { steps } }

    override func main() {
      willChangeValue(forKey: "progress")
      guarded.withLock { steps = 1 }
      didChangeValue(forKey: "progress")
      super.main()
    }
  }

  /// Declares the dependencies of its states, and announces nothing.
  @KeyValueObservable
  private class DeclaringOperation: Operation, @unchecked Sendable {
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
    /// Observes the states of one operation, by string and by key path, which must agree.
    private final class Listener: KeyValueObserver, Sendable {
      let log = Log()
      let typed = Log()

      func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
      ) { log.add("\(keyPath ?? "-") \(change?[.newKey] as? Bool ?? false)") }

      /// Returns the values delivered for a key, in order.
      func heard(_ key: String) -> [String] {
        log.lines.filter { $0.hasPrefix(key) }.map { String($0.dropFirst(key.count + 1)) }
      }
      func heardTyped(_ key: String) -> [String] {
        typed.lines.filter { $0.hasPrefix(key) }.map { String($0.dropFirst(key.count + 1)) }
      }
    }

    /// Runs a hundred operations, four at a time, some cancelled, some dependent on others, and checks their notifications.
    private func run<Op: Operation & KeyValueObservable>(
      count: Int = 100, _ make: () -> Op, executing: KeyPath<Op, Bool>, finished: KeyPath<Op, Bool>
    ) {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 4
      var runs: [(operation: Op, listener: Listener, tokens: [NSKeyValueObservation], isCancelled: Bool)] =
        []
      for index in 0..<count {
        let (operation, listener) = (make(), Listener())
        operation.addObserver(listener, forKeyPath: "isExecuting", options: [.new])
        operation.addObserver(listener, forKeyPath: "isFinished", options: [.new])
        let tokens = [
          operation.observe(executing, options: [.new]) {
            listener.typed.add("isExecuting \($1.newValue!)")
          },
          operation.observe(finished, options: [.new]) {
            listener.typed.add("isFinished \($1.newValue!)")
          },
        ]
        if index % 7 == 3, index > 7 { operation.addDependency(runs[index - 7].operation) }
        let isCancelled = index % 10 == 9
        if isCancelled { operation.cancel() }
        runs.append((operation, listener, tokens, isCancelled))
      }
      for run in runs { queue.addOperation(run.operation) }
      queue.waitUntilAllOperationsAreFinished()
      for (operation, listener, _, isCancelled) in runs {
        #expect(operation.isFinished && !operation.isExecuting)
        #expect(listener.heard("isFinished") == ["true"])
        #expect(listener.heardTyped("isFinished") == ["true"])
        #expect(listener.heard("isExecuting") == (isCancelled ? [] : ["true", "false"]))
        #expect(listener.heardTyped("isExecuting") == (isCancelled ? [] : ["true", "false"]))
        operation.removeObserver(listener, forKeyPath: "isExecuting")
        operation.removeObserver(listener, forKeyPath: "isFinished")
      }
    }

    @Test
    func
      `Two flags that are announced by string: the queue finishes, and observers hear each change once`()
    {
      run({ FlagOperation() }, executing: \.isExecuting, finished: \.isFinished)
    }

    @Test func `A subclass that adds no properties announces states like its superclass`() {
      run({ Download() }, executing: \.isExecuting, finished: \.isFinished)
    }

    @Test func `A state whose setter announces while holding a lock that its getters take`() {
      run({ StateOperation() }, executing: \.isExecuting, finished: \.isFinished)
    }

    @Test func `A state with willSet and didSet that announce`() {
      let queue = OperationQueue()
      let (operation, listener) = (WillSetOperation(), Listener())
      operation.addObserver(listener, forKeyPath: "isExecuting", options: [.new])
      operation.addObserver(listener, forKeyPath: "isFinished", options: [.new])
      queue.addOperation(operation)
      queue.waitUntilAllOperationsAreFinished()
      #expect(listener.log.lines == ["isExecuting true", "isExecuting false", "isFinished true"])
      operation.removeObserver(listener, forKeyPath: "isExecuting")
      operation.removeObserver(listener, forKeyPath: "isFinished")
    }

    @Test func `Dynamic properties are announced by key path`() {
      run({ DynamicOperation() }, executing: \.isExecuting, finished: \.isFinished)
    }

    @Test func `A key of the operation's own class notifies its observers`() {
      let queue = OperationQueue()
      let (operation, log) = (ProgressOperation(), Log())
      let token = operation.observe(\.progress, options: [.old, .new]) {
        log.add("\($1.oldValue!)>\($1.newValue!)")
      }
      let watcher = Watcher(log)
      operation.addObserver(watcher, forKeyPath: "progress", options: [.new])
      queue.addOperation(operation)
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.lines == ["progress ->1", "0>1"])
      operation.removeObserver(watcher, forKeyPath: "progress")
      token.invalidate()
    }

    @Test
    func
      `Announcements reach observers also through a protocol, and setValue(_:forKey:) announces`()
    {
      func announce(_ object: some KeyValueObservable, _ key: String) {
        object.willChangeValue(forKey: key)
        object.didChangeValue(forKey: key)
      }
      let (operation, watcher) = (FlagOperation(), Watcher())
      operation.addObserver(watcher, forKeyPath: "isExecuting")
      operation.addObserver(watcher, forKeyPath: "elsewhere")
      announce(operation, "isExecuting")
      announce(operation, "elsewhere")
      let erased: any KeyValueObservable = operation
      erased.willChangeValue(forKey: "elsewhere")
      erased.didChangeValue(forKey: "elsewhere")
      #expect(watcher.log.lines == ["isExecuting ->-", "elsewhere ->-", "elsewhere ->-"])
      operation.removeObserver(watcher, forKeyPath: "isExecuting")
      operation.removeObserver(watcher, forKeyPath: "elsewhere")
    }

    @Test func `A state that is declared as dependent on others is announced to the queue too`() {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 4
      let operations = (0..<100).map { _ in DeclaringOperation() }
      let listener = Listener()
      operations[0].addObserver(listener, forKeyPath: "isFinished", options: [.new])
      queue.addOperations(operations, waitUntilFinished: false)
      queue.waitUntilAllOperationsAreFinished()
      #expect(operations.allSatisfy { $0.isFinished })
      // As on Apple's platforms, each change of a dependency is a change of the dependent key.
      #expect(listener.heard("isFinished") == ["false", "true"])
      operations[0].removeObserver(listener, forKeyPath: "isFinished")
    }

    @Test
    func `States that an operation does not override come from Foundation, and can be announced`() {
      let (operation, watcher) = (FlagOperation(), Watcher())
      #expect(operation.value(forKey: "isReady") as? Bool == true)
      operation.addObserver(watcher, forKeyPath: "isCancelled", options: [.new])
      operation.cancel()
      operation.willChangeValue(forKey: "isCancelled")
      operation.didChangeValue(forKey: "isCancelled")
      #expect(watcher.log.lines == ["isCancelled ->true"])
      operation.removeObserver(watcher, forKeyPath: "isCancelled")
    }
  }
#endif
