// @_KeyValueObserved: turns a stored property into accessors that notify and a separate storage.
#if Macros
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxMacros

  package enum KeyValueObservedMacro {}

  extension KeyValueObservedMacro: AccessorMacro {
    package static func expansion(
      of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
      // The diagnostic is thrown: if it were only reported, the compiler would also report that the macro created no getter.
      if let misuse = misuse(node, declaration, in: context) { throw DiagnosticsError(diagnostics: [misuse]) }
      guard let property = ObservedProperty(declaration, in: context) else { return [] }
      return property.accessors
    }

    private static func misuse(
      _ node: AttributeSyntax, _ declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) -> Diagnostic? {
      guard let variable = declaration.as(VariableDeclSyntax.self), let binding = variable.bindings.first else {
        return .cannotObserve(node, "what is not a property")
      }
      let name = "'\(binding.pattern.names.first?.plain ?? binding.pattern.trimmedDescription)'"
      guard let owner = context.lexicalContext.first?.as(ClassDeclSyntax.self) else {
        return .cannotObserve(node, "\(name), which is not a property of a class")
      }
      if variable.modifiers.has(.static, .class) { return .cannotObserve(node, "the type property \(name)") }
      if !variable.isVariable { return .cannotObserve(node, "the constant \(name)", .makeVariable(variable)) }
      if binding.accessorBlock?.isComputed ?? false { return .cannotObserve(node, "the computed property \(name)") }
      if variable.modifiers.has(.override) { return .cannotObserve(node, "the override \(name)") }
      if owner.attributes.first(named: "KeyValueObservable") == nil {
        return .classNotObservable(node, owner.name.text)
      }
      return nil
    }
  }

  extension KeyValueObservedMacro: PeerMacro {
    package static func expansion(
      of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      // The accessor role has already reported misuse.
      guard misuse(node, declaration, in: context) == nil,
        let property = ObservedProperty(declaration, in: context)
      else { return [] }
      return [property.storage]
    }
  }
#endif
