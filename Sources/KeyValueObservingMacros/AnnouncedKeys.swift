// The keys that a class announces manually: observing them is not a mistake, although no setter notifies.
#if Macros
  import SwiftSyntax

  /// The keys in calls of `willChangeValue(forKey:)` and the similar methods.
  final class AnnouncedKeys: SyntaxVisitor {
    private static let announcements: Set = ["willChangeValue", "didChangeValue", "willChange", "didChange"]

    /// The keys in source order; `nil` for a key that is computed at run time.
    private var keys: [PropertyName?] = []

    init(in declaration: ClassDeclSyntax) {
      super.init(viewMode: .sourceAccurate)
      walk(declaration.memberBlock)
    }

    var listing: [String] {
      var seen: Set<PropertyName?> = []
      return keys.filter { seen.insert($0).inserted }.map { "description.announces(\($0?.literal ?? "nil"))" }
    }

    override func visit(_ call: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
      let name =
        call.calledExpression.as(DeclReferenceExprSyntax.self)?.baseName.text
        ?? call.calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text
      guard let name, Self.announcements.contains(name) else { return .visitChildren }
      for argument in call.arguments where ["forKey", "for"].contains(argument.label?.text) {
        keys.append(key(argument.expression))
      }
      return .visitChildren
    }

    private func key(_ expression: ExprSyntax) -> PropertyName? {
      if let path = expression.as(KeyPathExprSyntax.self) {
        return path.components.last?.component.as(KeyPathPropertyComponentSyntax.self).map {
          PropertyName($0.declName.baseName)
        }
      }
      return expression.as(StringLiteralExprSyntax.self)?.representedLiteralValue.map(PropertyName.init(plain:))
    }
  }
#endif
