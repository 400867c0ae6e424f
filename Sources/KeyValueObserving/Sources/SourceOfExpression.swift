// The source of an expression: what it reads is found by tracking.

import CKVO

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
  public init(
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    _ expression: @escaping () -> Value
  ) {
    let actor = isolation
    self.init(
      of: { [SourceOrigin(expression: "the expression at \(fileID):\(line)")] }, read: expression,
      subscribe: {
        request, sink in
        let root = ExpressionRoot(expression, on: actor)
        // After an evaluation elsewhere than on the actor the runtime has no old value.
        let last = actor != nil && request.wantsOld ? LastValue(request.isInitial ? nil : expression()) : nil
        let wantsNew = request.options.contains(.new)
        let options = last != nil ? request.options.subtracting(.old).union(.new) : request.options
        // The closure holds the root, so that it lives as long as its observation.
        let observation = root.observe(\.value, options, request.site, request.description) { _, change in
          withExtendedLifetime(root) {
            let new = change.newValue.flatMap(\.self)
            let old = change.oldValue.flatMap(\.self)
            // Without a value it was evaluated elsewhere, and will be evaluated on its actor.
            if new == nil && options.contains(.new) && !change.isPrior { return }
            sink(
              NSKeyValueObservedChange(
                kind: .setting, newValue: wantsNew ? new : nil,
                oldValue: last != nil ? new.flatMap { last?.exchange($0) } : old,
                isPrior: change.isPrior))
          }
        }
        return observation == 0 ? [] : [observation]
      })
  }
}

/// The observed object of an expression's observation.
private final class ExpressionRoot<Value>: KeyValueObservable, @unchecked Sendable {
  let _$kvo = KeyValueObservationHeader()
  private let expression: () -> Value
  private let gate: ActorGate?
  private var storedTurn = 0

  init(_ expression: @escaping () -> Value, on actor: (any Actor)?) {
    self.expression = expression
    gate = actor.map { ActorGate($0) }
  }

  var __keyValueObject: KeyValueObjectReference { _$kvo.reference }

  static func __describeKeyValueProperties(_ description: KeyValueClassDescription) {
    description.observed("turn", expressionTurn, \ExpressionRoot.turn)
    description.property("value", \ExpressionRoot.value)
  }

  /// Set to have the expression evaluated after an evaluation elsewhere than on its actor, which reads this property only.
  private(set) var turn: Int {
    get { _$kvo.isTracking ? _$kvo.tracked(self, expressionTurn, { storedTurn }) : storedTurn }
    set { _$kvo.change(expressionTurn, { storedTurn }, { storedTurn = newValue }) }
  }

  var value: Value? {
    guard let gate, !gate.isCurrent else { return expression() }
    _ = turn
    gate.run { [weak self] in self?.turn += 1 }
    return nil
  }
}

private let expressionTurn = KeyValueObservationHeader.key("turn")
