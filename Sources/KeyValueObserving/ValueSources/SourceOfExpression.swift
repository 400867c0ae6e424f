// The source of an expression: what it reads is found by tracking.

public import CKVO

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
  /// main actor, has it evaluated on that actor: after changes made elsewhere once, later, with the values of that time.
  ///
  /// - Parameter expression: The closure to evaluate. The source and its observations hold it.
  @inlinable
  public init(
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    _ expression: @escaping () -> Value
  ) {
    let actor = isolation
    self.init(
      of: { [SourceOrigin(expressionAt: fileID, line)] }, read: expression,
      subscribe: { request, sink in
        ExpressionSourceBox(ExpressionFunctions(expression), sink).register(on: actor, request)
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

/// What the runtime holds for an observation of an expression.
@usableFromInline
final class ExpressionSourceBox: ObservationBox {
  private let functions: ExpressionFunctions
  /// The observed object of an expression that has none. It lives as long as its observation, which holds the box.
  private var root: Expression?
  /// Set at the registration. A copy of an unowned reference would be counted.
  private var receiver: UnretainedObject<AnyObject>?
  private var addressOfReceiver: UnsafeMutableRawPointer?

  @inlinable
  convenience init<Value>(_ functions: ExpressionFunctions, _ sink: @escaping (NSKeyValueObservedChange<Value>) -> Void)
  {
    self.init(functions) { _, change in sink(NSKeyValueObservedChange(__setting: change)) }
  }

  @usableFromInline
  init(_ functions: ExpressionFunctions, deliver: @escaping Deliver) {
    self.functions = functions
    super.init(deliver: deliver)
  }

  /// - Parameter actor: That of the code that made the expression. Without one it is evaluated where the observer's code is.
  @usableFromInline
  func register(on actor: (any Actor)?, _ request: SourceRequest) -> [UInt64] {
    let root = Expression()
    self.root = root
    var request = request
    if let actor { request.description.evaluator = ActorGate(actor) }
    return register(with: root, "value", request)
  }

  /// Registers an observation of an expression that ends with an object.
  func register(with object: some KeyValueObservable, _ keyPath: String, _ request: SourceRequest) -> [UInt64] {
    receiver = request.description.receiver
    addressOfReceiver = receiver?.address
    // When a weakly referenced object dies, the expression cannot be evaluated for its old value any more.
    let keepsLast = request.wantsOld && _openExistential(functions.type, do: holdsNoObject)
    let observation = keyPath.withCString { keyPath in
      ObserverDescription.withC(request.description) { observer in
        register(
          with: object.adoptedObject, key: nil, keyPath: keyPath,
          options: kvo_options(request.options, endsWithObject: true), observer: observer, site: request.site,
          keepsLast: keepsLast)
      }
    }
    return observation == 0 ? [] : [observation]
  }

  /// The expression may have captured the receiver as `unowned`.
  override func evaluate() -> UnsafeMutableRawPointer? {
    guard let addressOfReceiver else { return functions.evaluate() }
    guard let held = UnretainedObject<AnyObject>.load(addressOfReceiver) else { return nil }
    return withExtendedLifetime(held) { functions.evaluate() }
  }

  override func release(_ value: UnsafeMutableRawPointer) { functions.release(value) }
  override func areEqual(_ first: UnsafeRawPointer, _ second: UnsafeRawPointer) -> Bool {
    functions.areEqual(first, second)
  }
}

/// The observed object of an expression's observation. Reports, graphs and `kvo top` show its name, as in `Expression.value`.
private final class Expression: KeyValueObservable {
  let _$kvo = KeyValueObservationHeader()

  var __keyValueObject: KeyValueObjectReference { _$kvo.reference }

  static func __describeKeyValueProperties(_ description: KeyValueClassDescription) {}
}
