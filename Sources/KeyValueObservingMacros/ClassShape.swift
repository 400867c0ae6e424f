// The declaration of an observable class: its members, its type and its access level.
#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacros

  struct ClassShape {
    let declaration: ClassDeclSyntax

    var name: String { declaration.name.text }
    var isFinal: Bool { declaration.modifiers.has(.final) }
    var members: MemberBlockItemListSyntax { declaration.memberBlock.members }

    /// The members, including those in `#if` blocks.
    var flatMembers: [DeclSyntax] { ClassShape.flat(members) }
    var variables: [VariableDeclSyntax] { flatMembers.compactMap { $0.as(VariableDeclSyntax.self) } }

    static func flat(_ members: MemberBlockItemListSyntax) -> [DeclSyntax] {
      members.flatMap { member -> [DeclSyntax] in
        guard let condition = member.decl.as(IfConfigDeclSyntax.self) else { return [member.decl] }
        return condition.clauses.flatMap { clause -> [DeclSyntax] in
          if case .decls(let members) = clause.elements { return flat(members) }
          return []
        }
      }
    }

    /// The access modifier, with a trailing space, that a generated member needs to be visible wherever the class is.
    var access: String {
      switch declaration.modifiers.access {
      case .open, .public: "public "
      case .package: "package "
      default: ""
      }
    }

    /// The same as ``access`` for a member that subclasses override.
    var overridableAccess: String { declaration.modifiers.access == .open ? "open " : access }

    /// The type as members of the class refer to it: `Document<T>`.
    var type: String {
      guard let parameters = declaration.genericParameterClause?.parameters else { return name }
      let arguments = parameters.map { parameter in
        parameter.specifier?.tokenKind == .keyword(.each) ? "repeat each \(parameter.name.text)" : parameter.name.text
      }
      return "\(name)<\(arguments.joined(separator: ", "))>"
    }

    /// Returns whether its generic parameters, or those of an enclosing declaration, have constraints.
    func hasConstraints(in context: some MacroExpansionContext) -> Bool {
      let owners = [Syntax(declaration)] + context.lexicalContext
      return owners.contains { owner in
        guard let owner = owner.asProtocol((any WithGenericParametersSyntax).self) else { return false }
        return owner.genericWhereClause != nil
          || owner.genericParameterClause?.parameters.contains { $0.inheritedType != nil } ?? false
      }
    }

    /// Returns whether the class body declares a function with this name and these labels.
    func declaresFunction(_ name: String, _ labels: [String]) -> Bool {
      flatMembers.contains {
        guard let function = $0.as(FunctionDeclSyntax.self) else { return false }
        let parameters = function.signature.parameterClause.parameters
        return PropertyName(function.name).plain == name && parameters.map(\.firstName.text) == labels
      }
    }

    /// Returns whether the class body declares a type or instance property with this name.
    func declaresVariable(_ name: String) -> Bool {
      variables.contains { $0.bindings.contains { $0.pattern.names.contains(PropertyName(plain: name)) } }
    }

    /// The names in the inheritance clause, without modules: `Codable`, `NSObject`.
    var inherited: Set<String> {
      Set(
        (declaration.inheritanceClause?.inheritedTypes ?? []).flatMap { inherited in
          inherited.type.tokens(viewMode: .sourceAccurate).compactMap { token in
            token.nextToken(viewMode: .sourceAccurate)?.tokenKind == .period ? nil : token.text
          }
        })
    }

    /// Returns the lines that `line` creates for each member. Lines of members in an `#if` block are put into the same `#if` block.
    func lines(_ line: (DeclSyntax) -> [String]) -> [String] {
      ClassShape.lines(members, line)
    }

    /// The same for the members of any type.
    static func lines(_ members: MemberBlockItemListSyntax, _ line: (DeclSyntax) -> [String]) -> [String] {
      members.flatMap { member -> [String] in
        guard let condition = member.decl.as(IfConfigDeclSyntax.self) else { return line(member.decl) }
        let clauses = condition.clauses.map { clause -> (head: String, lines: [String]) in
          let head = [clause.poundKeyword.text, clause.condition?.trimmedDescription].compactMap(\.self)
          guard case .decls(let members) = clause.elements else { return (head.joined(separator: " "), []) }
          return (head.joined(separator: " "), lines(members, line))
        }
        guard clauses.contains(where: { !$0.lines.isEmpty }) else { return [] }
        return clauses.flatMap { [$0.head] + $0.lines } + ["#endif"]
      }
    }
  }
#endif
