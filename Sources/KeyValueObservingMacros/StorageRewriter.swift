// Rewrites the bodies of willSet and didSet: there the property's name means its storage, as in plain Swift.
#if Macros
  import SwiftSyntax

  extension AccessorDeclSyntax {
    /// The parameter's name, if it is written: `old` in `didSet(old)`.
    var parameterName: PropertyName? { parameters.map { PropertyName($0.name) } }

    /// Returns whether the body uses a variable with this name; labels and members of other values do not count.
    func mentions(_ name: PropertyName) -> Bool {
      guard let body else { return false }
      let finder = NameFinder(name)
      finder.walk(body)
      return finder.isFound
    }
  }

  private final class NameFinder: SyntaxVisitor {
    private let name: PropertyName
    private(set) var isFound = false

    init(_ name: PropertyName) {
      self.name = name
      super.init(viewMode: .sourceAccurate)
    }

    override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
      if PropertyName(node.baseName) == name { isFound = true }
      return .visitChildren
    }

    override func visit(_ node: MemberAccessExprSyntax) -> SyntaxVisitorContinueKind {
      if let base = node.base { walk(base) }
      return .skipChildren
    }

    override func visit(_ node: ClosureCaptureSyntax) -> SyntaxVisitorContinueKind {
      if node.initializer == nil, PropertyName(node.name) == name { isFound = true }
      return .visitChildren
    }

    override func visit(_ node: OptionalBindingConditionSyntax) -> SyntaxVisitorContinueKind {
      if node.initializer == nil, node.pattern.names.contains(name) { isFound = true }
      return .visitChildren
    }
  }

  /// Replaces `title` and `self.title` by `_title` where plain Swift would access the storage directly: not in closures and local
  /// functions, and not where a local variable or the parameter has that name.
  final class StorageRewriter: SyntaxRewriter {
    private let property: PropertyName
    private var isShadowed: Bool

    /// - Parameter isShadowed: Whether the parameter of the `willSet` or `didSet` has the property's name.
    static func rewrite(
      _ statements: CodeBlockItemListSyntax, property: PropertyName, isShadowed: Bool
    ) -> CodeBlockItemListSyntax {
      StorageRewriter(property, isShadowed).visit(statements)
    }

    private init(_ property: PropertyName, _ isShadowed: Bool) {
      self.property = property
      self.isShadowed = isShadowed
      super.init(viewMode: .sourceAccurate)
    }

    // MARK: - References

    override func visit(_ node: DeclReferenceExprSyntax) -> ExprSyntax {
      guard !isShadowed, node.argumentNames == nil, PropertyName(node.baseName) == property else {
        return ExprSyntax(node)
      }
      return ExprSyntax(reference(like: node))
    }

    override func visit(_ node: MemberAccessExprSyntax) -> ExprSyntax {
      guard let base = node.base else { return ExprSyntax(node) }
      if base.as(DeclReferenceExprSyntax.self)?.baseName.tokenKind == .keyword(.self) {
        guard node.declName.argumentNames == nil, PropertyName(node.declName.baseName) == property else {
          return ExprSyntax(node)
        }
        return ExprSyntax(node.with(\.declName.baseName, .identifier(property.storage.member, like: node.declName)))
      }
      return ExprSyntax(node.with(\.base, visit(base)))
    }

    override func visit(_ node: FunctionCallExprSyntax) -> ExprSyntax {
      // `title(…)` may be a method with the same name; if it is not, reading the property through the getter is correct too.
      guard node.calledExpression.is(DeclReferenceExprSyntax.self) else { return super.visit(node) }
      let callee = node.calledExpression
      return ExprSyntax(super.visit(node).cast(FunctionCallExprSyntax.self).with(\.calledExpression, callee))
    }

    private func reference(like node: DeclReferenceExprSyntax) -> DeclReferenceExprSyntax {
      node.with(\.baseName, .identifier(property.storage.declared, like: node))
    }

    // MARK: - Code in which plain Swift calls the accessors

    override func visit(_ node: ClosureExprSyntax) -> ExprSyntax { ExprSyntax(node) }
    override func visit(_ node: FunctionDeclSyntax) -> DeclSyntax { DeclSyntax(node) }
    override func visit(_ node: ClassDeclSyntax) -> DeclSyntax { DeclSyntax(node) }
    override func visit(_ node: StructDeclSyntax) -> DeclSyntax { DeclSyntax(node) }
    override func visit(_ node: EnumDeclSyntax) -> DeclSyntax { DeclSyntax(node) }
    override func visit(_ node: ActorDeclSyntax) -> DeclSyntax { DeclSyntax(node) }
    override func visit(_ node: KeyPathExprSyntax) -> ExprSyntax { ExprSyntax(node) }

    // MARK: - Scopes

    private func scope<Node>(_ body: () -> Node) -> Node {
      let outer = isShadowed
      defer { isShadowed = outer }
      return body()
    }

    private func declare(_ pattern: PatternSyntax?) {
      if let pattern, pattern.names.contains(property) { isShadowed = true }
    }

    override func visit(_ node: CodeBlockItemListSyntax) -> CodeBlockItemListSyntax {
      scope { super.visit(node) }
    }

    override func visit(_ node: VariableDeclSyntax) -> DeclSyntax {
      let result = super.visit(node)
      for binding in node.bindings { declare(binding.pattern) }
      return result
    }

    override func visit(_ node: OptionalBindingConditionSyntax) -> OptionalBindingConditionSyntax {
      let result = super.visit(node)
      declare(node.pattern)
      return result
    }

    override func visit(_ node: MatchingPatternConditionSyntax) -> MatchingPatternConditionSyntax {
      let result = super.visit(node)
      declare(node.pattern)
      return result
    }

    override func visit(_ node: IfExprSyntax) -> ExprSyntax {
      // The bindings of the conditions are not visible in `else`.
      let (conditions, body) = scope { (visit(node.conditions), visit(node.body)) }
      var result = node.with(\.conditions, conditions).with(\.body, body)
      if let elseBody = node.elseBody {
        switch elseBody {
        case .ifExpr(let nested): result.elseBody = visit(nested).as(IfExprSyntax.self).map { .ifExpr($0) }
        case .codeBlock(let block): result.elseBody = .codeBlock(visit(block))
        }
      }
      return ExprSyntax(result)
    }

    override func visit(_ node: GuardStmtSyntax) -> StmtSyntax {
      // The bindings of a guard are visible after the statement, not in `else`.
      let body = visit(node.body)
      let conditions = visit(node.conditions)
      return StmtSyntax(node.with(\.conditions, conditions).with(\.body, body))
    }

    override func visit(_ node: WhileStmtSyntax) -> StmtSyntax {
      scope { super.visit(node) }
    }

    override func visit(_ node: ForStmtSyntax) -> StmtSyntax {
      let sequence = visit(node.sequence)
      return scope {
        declare(node.pattern)
        let condition = node.whereClause.map { visit($0) }
        let body = visit(node.body)
        return StmtSyntax(node.with(\.sequence, sequence).with(\.whereClause, condition).with(\.body, body))
      }
    }

    override func visit(_ node: SwitchCaseSyntax) -> SwitchCaseSyntax {
      scope {
        if case .case(let label) = node.label {
          for item in label.caseItems { declare(item.pattern) }
        }
        return super.visit(node)
      }
    }

    override func visit(_ node: CatchClauseSyntax) -> CatchClauseSyntax {
      scope {
        for item in node.catchItems { declare(item.pattern) }
        return super.visit(node)
      }
    }
  }

  extension TokenSyntax {
    fileprivate static func identifier(_ text: String, like node: DeclReferenceExprSyntax) -> TokenSyntax {
      .identifier(text, leadingTrivia: node.baseName.leadingTrivia, trailingTrivia: node.baseName.trailingTrivia)
    }
  }
#endif
