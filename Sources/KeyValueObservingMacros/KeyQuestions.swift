// Class members for one key: `keyPathsForValuesAffecting<Key>` and `automaticallyNotifiesObserversOf<Key>`.
#if Macros
  import SwiftSyntax

  /// A class method or property whose name ends with a key.
  struct KeyQuestion {
    /// The corresponding methods of the class description.
    private static let verbs = [
      "keyPathsForValuesAffecting": "affecting", "automaticallyNotifiesObserversOf": "automaticallyNotifies",
    ]

    private let verb: String
    private let key: PropertyName
    private let call: String
    /// Whether the answer replaces that of the superclass's member, rather than containing it.
    private let replaces: Bool

    /// `nil` for any other member.
    init?(_ member: DeclSyntax) {
      let name: PropertyName
      if let function = member.as(FunctionDeclSyntax.self) {
        let signature = function.signature
        guard function.modifiers.has(.static, .class), signature.parameterClause.parameters.isEmpty,
          signature.effectSpecifiers == nil
        else { return nil }
        name = PropertyName(function.name)
        call = "\(name.declared)()"
      } else if let variable = member.as(VariableDeclSyntax.self), variable.modifiers.has(.static, .class),
        let declared = variable.bindings.first?.pattern.names.first
      {
        name = declared
        call = name.declared
      } else {
        return nil
      }
      guard let (prefix, verb) = KeyQuestion.verbs.first(where: { name.plain.hasPrefix($0.key) }) else { return nil }
      let key = name.plain.dropFirst(prefix.count)
      // `keyPathsForValuesAffectingValue(forKey:)` has a parameter, so a key named `value` is still possible.
      guard !key.isEmpty else { return nil }
      let callsSuper = member.tokens(viewMode: .sourceAccurate).contains { $0.tokenKind == .keyword(.super) }
      replaces = (member.asProtocol((any WithModifiersSyntax).self)?.modifiers.has(.override) ?? false) && !callsSuper
      self.verb = verb
      self.key = PropertyName(plain: String(key))
    }

    var listing: String {
      replaces
        ? "description.__\(verb)(\(key.literal), replacing: \(call))" : "description.\(verb)(\(key.literal), \(call))"
    }
  }
#endif
