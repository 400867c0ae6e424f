// Which keys a class announces by hand: to observe them is no mistake, though no setter tells their changes.
#if Macros
  import SwiftSyntax

  /// The keys in calls of `willChangeValue(forKey:)` and its like.
  final class AnnouncedKeys: SyntaxVisitor {
    private static let announcements: Set = ["willChangeValue", "didChangeValue", "willChange", "didChange"]

    /// In the order of the source; `nil` stands for one that only the program knows.
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
