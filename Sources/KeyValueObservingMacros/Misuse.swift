// The properties of an observable class that cannot be observed. The class's macro reports each of them once.
#if Macros
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxMacros

  extension VariableDeclSyntax {
    var hasSeveralNames: Bool { bindings.count > 1 || bindings.first?.pattern.is(TuplePatternSyntax.self) ?? false }

    /// The reason why a property of the class cannot be observed. The property is then treated as `@NotObserved`, so that this
    /// diagnostic is the only one.
    var misuse: Diagnostic? {
      guard isVariable, !modifiers.has(.static, .class), attributes.first(named: "NotObserved") == nil,
        let binding = bindings.first(where: { !($0.accessorBlock?.isComputed ?? false) })
      else { return nil }
      if binding.pattern.is(TuplePatternSyntax.self) { return .tuplePattern(self) }
      if bindings.count > 1 { return .severalBindings(self) }
      guard let name = binding.pattern.names.first, !modifiers.has(.override) else { return nil }
      if modifiers.has(.lazy) { return .lazy(self, name) }
      // A handwritten `@_KeyValueObserved` means that the author has checked the other attribute.
      if let wrapper = possibleWrapper, attributes.first(named: "_KeyValueObserved") == nil {
        return .wrapped(self, name, wrapper)
      }
      // Each declaration with an opaque type has its own type, so the storage would not match the property.
      if let type = binding.typeAnnotation?.type, type.tokens(viewMode: .sourceAccurate).contains(where: \.isSome) {
        return .opaque(self, name, type)
      }
      return nil
    }
  }

  extension TokenSyntax {
    fileprivate var isSome: Bool { tokenKind == .keyword(.some) }
  }

  extension ClassShape {
    /// Returns the reason why the macro cannot be applied to this class.
    func refusal(_ attribute: AttributeSyntax, in context: some MacroExpansionContext) -> Diagnostic? {
      // In an `#if` it is usually the alternative: `@Observable` on other platforms.
      if let other = declaration.attributes.unconditional.first(where: { $0.baseName == "Observable" }) {
        return .observableTwice(attribute, other, name)
      }
      let parameters = declaration.genericParameterClause?.parameters ?? []
      if let pack = parameters.first(where: { $0.specifier?.tokenKind == .keyword(.each) }) {
        return .parameterPack(attribute, name, pack)
      }
      // Swift also reports an error for this, but that does not say what to do.
      let isLocal = context.lexicalContext.contains {
        $0.is(FunctionDeclSyntax.self) || $0.is(InitializerDeclSyntax.self) || $0.is(AccessorDeclSyntax.self)
          || $0.is(ClosureExprSyntax.self)
      }
      return isLocal ? .localClass(attribute, name) : nil
    }

    /// The reason why a member cannot be observed.
    func misuse(_ variable: VariableDeclSyntax) -> Diagnostic? {
      if let misuse = variable.misuse { return misuse }
      guard variable.isObservable, isStorageTaken(variable), let binding = variable.bindings.first else { return nil }
      return binding.pattern.names.first.map { .storageTaken(variable, $0) }
    }

    /// Returns whether the storage of an observed property would conflict with another member.
    func isStorageTaken(_ variable: VariableDeclSyntax) -> Bool {
      let storages = Set(variable.bindings.flatMap(\.pattern.names).map(\.storage))
      return variables.contains { $0.bindings.flatMap(\.pattern.names).contains(where: storages.contains) }
    }
  }
#endif
