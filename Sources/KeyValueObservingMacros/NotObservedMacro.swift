// @NotObserved: generates nothing; the class's macro looks for it. This macro only warns where it has no effect.
#if Macros
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxMacros

  package enum NotObservedMacro: PeerMacro {
    package static func expansion(
      of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      if let reason = reasonForNoEffect(declaration, in: context) {
        context.diagnose(.needless(node, because: reason))
      }
      return []
    }

    private static func reasonForNoEffect(
      _ declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) -> String? {
      guard let variable = declaration.as(VariableDeclSyntax.self), let binding = variable.bindings.first else {
        return "what is not a property"
      }
      let name = "'\(binding.pattern.names.first?.plain ?? binding.pattern.trimmedDescription)'"
      guard let owner = context.lexicalContext.first?.as(ClassDeclSyntax.self) else {
        return "\(name), which is not a property of a class"
      }
      if owner.attributes.first(named: "KeyValueObservable") == nil {
        return "\(name), for class '\(owner.name.text)' is not marked '@KeyValueObservable'"
      }
      if variable.modifiers.has(.static, .class) { return "the type property \(name), which is never observed" }
      if binding.accessorBlock?.isComputed ?? false {
        return "the computed property \(name), which is found by what it reads"
      }
      return nil
    }
  }
#endif
