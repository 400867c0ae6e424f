// @KeyValueObservable: adds the header and the property list to a class, and accessors to each stored property.
#if Macros
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxMacros

  package enum KeyValueObservableMacro {}

  extension KeyValueObservableMacro: MemberMacro {
    package static func expansion(
      of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
      conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      guard let declaration = declaration.as(ClassDeclSyntax.self) else {
        // For other types the extension role diagnoses this: the compiler always expands it, but the member role only when needed.
        if declaration.is(ExtensionDeclSyntax.self) { context.diagnose(.notAClass(node, declaration)) }
        return []
      }
      let shape = ClassShape(declaration: declaration)
      if let refusal = shape.refusal(node, in: context) {
        context.diagnose(refusal)
        return []
      }
      // Here, because the compiler asks for the attributes of each of the names.
      shape.variables.filter(\.hasSeveralNames).compactMap(\.misuse).forEach(context.diagnose)
      let missing = Set(protocols.map(\.trimmedDescription.unqualified))
      // A superclass that the macro or the library has made observable already has the header.
      let hasHeader = !missing.contains("_KeyValueObservableClass")
      var members: [DeclSyntax] = []
      if !hasHeader { members += header(shape) + Hook.missing(in: shape) }
      let isOperation = !missing.contains("_KeyValueOperation")
      if isOperation {
        let operation = OperationMembers(shape: shape)
        members += (hasHeader ? [] : operation.announcements) + operation.link
      }
      let inherited = isOperation && !hasHeader ? ["isReady", "isExecuting", "isFinished", "isCancelled"] : []
      members += propertyList(shape, inherits: hasHeader, andLists: inherited, in: context)
      members += Coding(shape: shape, missing: missing).members
      return members
    }

    private static func header(_ shape: ClassShape) -> [DeclSyntax] {
      // If the class is not final, `final` makes the test in each accessor a plain load.
      let modifiers = shape.access + (shape.isFinal ? "" : "final ")
      return [
        "\(raw: modifiers)nonisolated let _$kvo = KeyValueObserving.KeyValueObservationHeader()",
        """
        @safe \(raw: modifiers)nonisolated var __keyValueObject: KeyValueObserving.KeyValueObjectReference {
          _$kvo.reference
        }
        """,
      ]
    }
  }

  extension KeyValueObservableMacro: MemberAttributeMacro {
    package static func expansion(
      of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
      providingAttributesFor member: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) throws -> [AttributeSyntax] {
      guard let declaration = declaration.as(ClassDeclSyntax.self), let variable = member.as(VariableDeclSyntax.self)
      else { return [] }
      let shape = ClassShape(declaration: declaration)
      guard shape.refusal(node, in: context) == nil else { return [] }
      // Here, because the compiler does not ask for those of members in an `#if` that are another platform's.
      if !variable.hasSeveralNames, let misuse = shape.misuse(variable) { context.diagnose(misuse) }
      guard variable.attributes.first(named: "_KeyValueObserved") == nil, shape.observes(variable) else { return [] }
      return ["@_KeyValueObserved"]
    }
  }

  extension KeyValueObservableMacro: ExtensionMacro {
    package static func expansion(
      of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
      providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
      in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
      guard let observable = declaration.as(ClassDeclSyntax.self) else {
        if !declaration.is(ExtensionDeclSyntax.self) { context.diagnose(.notAClass(node, declaration)) }
        return []
      }
      guard ClassShape(declaration: observable).refusal(node, in: context) == nil else { return [] }
      // The conformance is `nonisolated`, because the runtime uses it on any thread, whatever the actor of the class.
      let conformances = protocols.map(\.trimmedDescription.unqualified)
        .filter { ["KeyValueObservable", "_KeyValueObservableClass"].contains($0) }
        .map { "nonisolated KeyValueObserving." + $0 }
      guard !conformances.isEmpty else { return [] }
      let declaration: DeclSyntax = "extension \(type.trimmed): \(raw: conformances.joined(separator: ", ")) {}"
      return declaration.as(ExtensionDeclSyntax.self).map { [$0] } ?? []
    }
  }

  extension String {
    fileprivate var unqualified: String { split(separator: ".").last.map(String.init) ?? self }
  }
#endif
