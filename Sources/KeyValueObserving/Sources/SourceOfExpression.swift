// The source of an expression: what it reads is found by tracking.

public import CKVO
import Synchronization

extension KeyValueSource {
  /// Creates the source of an expression.
  ///
  /// ```swift
  /// let both = KeyValueSource { "\(first.name) & \(second.name)" }
  /// ```
  /// The expression is evaluated at registration and after each change of what it has read, and notifies after each evaluation. What
  /// it reads may differ from one evaluation to the next. Only properties of observable objects count: an expression that reads none
  /// never notifies, and is fault KVO0011.
  ///
  /// The expression is evaluated on the thread that makes the change, before its setter returns. Code of an actor, such as a class of the
  /// main actor, has it evaluated on that actor: after a change made elsewhere it is evaluated later there, with the values of that time.
  ///
  /// - Parameter expression: The closure to evaluate. The source and its observations hold it.
  @inlinable
  public init(
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    _ expression: @escaping () -> Value
  ) {
    let actor = isolation
    self.init(
      of: { [SourceOrigin(expressionAt: fileID, line)] }, read: { _ in expression() },
      subscribe: { request, sink in
        let (options, functions) = (request.options, ExpressionFunctions(expression))
        guard actor != nil, request.wantsOld else {
          return ExpressionSourceBox(on: actor, functions, sink).register(options, request)
        }
        // After an evaluation elsewhere than on the actor the runtime has no old value.
        let last = LastValue(request.isInitial ? nil : expression())
        let box = ExpressionSourceBox(on: actor, functions) { (change: NSKeyValueObservedChange<Value>) in
          let old = change.newValue.flatMap { last.exchange($0) }
          sink(NSKeyValueObservedChange(kind: .setting, newValue: change.newValue, oldValue: old).limited(to: options))
        }
        return box.register(options.subtracting(.old).union(.new), request)
      })
  }
}

extension SourceOrigin {
  @usableFromInline
  init(expressionAt fileID: StaticString, _ line: UInt) { self.init(expression: "the expression at \(fileID):\(line)") }
}

/// Evaluates an expression and handles its values. Created where the type is known, so that it is specialised.
@usableFromInline
struct ExpressionFunctions {
  let evaluate: () -> UnsafeMutableRawPointer
  let release: (UnsafeMutableRawPointer) -> Void
  let areEqual: (UnsafeRawPointer, UnsafeRawPointer) -> Bool
  let type: Any.Type

  @inlinable
  init<Value>(_ expression: @escaping () -> Value) {
    self.init(of: Value.self) {
      .__copy(expression(), as: Value.self)
    } release: {
      $0.__release(as: Value.self)
    } areEqual: {
      Self.areEqual($0, $1, as: Value.self)
    }
  }

  @usableFromInline
  static func areEqual<Value>(_ first: UnsafeRawPointer, _ second: UnsafeRawPointer, as type: Value.Type) -> Bool {
    isEqual(first.assumingMemoryBound(to: type).pointee, second.assumingMemoryBound(to: type).pointee)
  }

  @usableFromInline
  init(
    of type: Any.Type, evaluate: @escaping () -> UnsafeMutableRawPointer,
    release: @escaping (UnsafeMutableRawPointer) -> Void,
    areEqual: @escaping (UnsafeRawPointer, UnsafeRawPointer) -> Bool
  ) {
    (self.type, self.evaluate, self.release, self.areEqual) = (type, evaluate, release, areEqual)
  }
}

/// What the runtime holds for an observation of an expression, which has no object.
@usableFromInline
final class ExpressionSourceBox: ObservationBox {
  /// Lives as long as its observation, which holds the box.
  private let root: ExpressionSource
  private let functions: ExpressionFunctions

  @inlinable
  convenience init<Value>(
    on actor: (any Actor)?, _ functions: ExpressionFunctions,
    _ sink: @escaping (NSKeyValueObservedChange<Value>) -> Void
  ) {
    self.init(on: actor, functions) { box, change in
      // Without a value it was evaluated elsewhere, and will be evaluated on its actor.
      let change = NSKeyValueObservedChange<Value>(__setting: change)
      if change.newValue != nil || !unsafeDowncast(box, to: ExpressionSourceBox.self).isElsewhere { sink(change) }
    }
  }

  @usableFromInline
  init(on actor: (any Actor)?, _ functions: ExpressionFunctions, deliver: @escaping Deliver) {
    root = ExpressionSource(on: actor)
    self.functions = functions
    super.init(deliver: deliver)
  }

  @usableFromInline var isElsewhere: Bool { root.isElsewhere }

  @usableFromInline
  func register(_ options: NSKeyValueObservingOptions, _ request: SourceRequest) -> [UInt64] {
    // When a weakly referenced object dies, the expression cannot be evaluated for its old value any more.
    let keepsLast = options.contains(.old) && _openExistential(functions.type, do: holdsNoObject)
    let observation = ObserverDescription.withC(request.description) { observer in
      register(
        with: root.adoptedObject, key: nil, keyPath: "expression", options: kvo_options(options, endsWithObject: true),
        observer: observer, site: request.site, keepsLast: keepsLast)
    }
    return observation == 0 ? [] : [observation]
  }

  override func evaluate() -> UnsafeMutableRawPointer? {
    if root.isElsewhere {
      root.evaluateLater()
      return nil
    }
    return functions.evaluate()
  }

  override func release(_ value: UnsafeMutableRawPointer) { functions.release(value) }
  override func areEqual(_ first: UnsafeRawPointer, _ second: UnsafeRawPointer) -> Bool {
    functions.areEqual(first, second)
  }
}

/// The observed object of an expression's observation.
private final class ExpressionSource: KeyValueObservable, @unchecked Sendable {
  let _$kvo = KeyValueObservationHeader()
  private let gate: ActorGate?
  /// Set on the actor, and read where the expression is evaluated: on any thread.
  private let storedTurn = Atomic(0)
  private static let turnKey = KeyValueObservationHeader.key("turn")

  init(on actor: (any Actor)?) { gate = actor.map { ActorGate($0) } }

  var __keyValueObject: KeyValueObjectReference { _$kvo.reference }

  static func __describeKeyValueProperties(_ description: KeyValueClassDescription) {
    description.observed("turn", turnKey, \ExpressionSource.turn)
  }

  /// Set to have the expression evaluated after an evaluation elsewhere than on its actor, which reads this property only.
  private var turn: Int {
    get { _$kvo.isTracking ? _$kvo.tracked(self, Self.turnKey, { storedTurn.value }) : storedTurn.value }
    set { _$kvo.change(Self.turnKey, { storedTurn.value }, { storedTurn.value = newValue }) }
  }

  /// Whether this thread does not run on the actor.
  var isElsewhere: Bool { gate.map { !$0.isCurrent } ?? false }

  /// Called in an evaluation.
  func evaluateLater() {
    _ = turn
    gate?.run { [weak self] in self?.turn += 1 }
  }
}

extension Atomic<Int> {
  fileprivate var value: Int {
    get { load(ordering: .sequentiallyConsistent) }
    nonmutating set { store(newValue, ordering: .sequentiallyConsistent) }
  }
}
