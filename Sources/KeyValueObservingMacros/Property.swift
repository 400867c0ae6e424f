// What the macros make of the properties of a class: which are observed, which are only listed, which are misuse.
#if Macros
  import SwiftSyntax

  /// One property of a class, as far as its declaration shows.
  struct Property {
    enum Kind {
      /// A stored `var`: the macro gives it accessors and a storage.
      case observed
      /// A `let`, or a `var` that is marked `@NotObserved`.
      case stored
      /// Marked `@NotObserved`, with an attribute that looks like a property wrapper.
      case wrapped
      case lazy
      case computed
    }

    let name: PropertyName
    let kind: Kind
    let declaration: VariableDeclSyntax
    let binding: PatternBindingSyntax

    /// Whether `init(from:)` can give it a value.
    var isAssignable: Bool { declaration.isVariable || binding.initializer == nil }

    /// Where its value lies.
    var storage: PropertyName { kind == .observed || kind == .wrapped ? name.storage : name }

    /// Whether Swift lets a key path name it.
    var isListed: Bool {
      !declaration.isUnavailable && !(binding.accessorBlock?.hasEffects ?? false)
    }

    /// A global actor that is written on the property itself, which a key path to it has to respect.
    var actor: AttributeSyntax? { declaration.attributes.actor }
  }

  extension ClassShape {
    /// Whether the property gets accessors of ours.
    func observes(_ declaration: VariableDeclSyntax) -> Bool {
      declaration.isObservable && declaration.misuse == nil && !isStorageTaken(declaration)
    }

    /// The properties that `declaration` declares on instances; empty for a type property.
    func properties(of declaration: VariableDeclSyntax) -> [Property] {
      guard !declaration.modifiers.has(.static, .class) else { return [] }
      let isObserved = observes(declaration)
      return declaration.bindings.flatMap { binding -> [Property] in
        let kind: Property.Kind
        if binding.accessorBlock?.isComputed ?? false {
          kind = .computed
        } else if isObserved {
          kind = .observed
        } else if declaration.modifiers.has(.lazy) {
          kind = .lazy
        } else {
          kind = declaration.isVariable && declaration.possibleWrapper != nil ? .wrapped : .stored
        }
        return binding.pattern.names.map {
          Property(name: $0, kind: kind, declaration: declaration, binding: binding)
        }
      }
    }
  }

  extension VariableDeclSyntax {
    var isVariable: Bool { bindingSpecifier.tokenKind == .keyword(.var) }

    /// Whether observing is asked for and possible; see also ``misuse``.
    var isObservable: Bool {
      isVariable && !modifiers.has(.static, .class, .lazy, .override)
        && attributes.first(named: "NotObserved") == nil
        && bindings.contains { !($0.accessorBlock?.isComputed ?? false) }
    }

    var isUnavailable: Bool { hasAvailability(.keyword(.unavailable)) }
    var isDeprecated: Bool { hasAvailability(.keyword(.deprecated)) }

    private func hasAvailability(_ kind: TokenKind) -> Bool {
      attributes.contains { attribute in
        guard case .attribute(let attribute) = attribute, attribute.baseName == "available",
          case .availability(let arguments) = attribute.arguments
        else { return false }
        return arguments.contains { $0.argument.as(TokenSyntax.self)?.tokenKind == kind }
      }
    }

    /// An attribute that may be a property wrapper. Nothing but its spelling tells: attributes of the language are
    /// lower-case but for a few, global actors and result builders are named so by convention.
    var possibleWrapper: AttributeSyntax? {
      let known: Set = [
        "IBInspectable", "IBOutlet", "GKInspectable", "NSCopying", "NSManaged", "NotObserved", "KeyValueObservable",
      ]
      return attributes.lazy.compactMap { $0.as(AttributeSyntax.self) }.first {
        let name = $0.baseName
        return name.first?.isUppercase ?? false && !known.contains(name) && !name.hasSuffix("Actor")
          && !name.hasSuffix("Builder")
      }
    }
  }

  extension AccessorBlockSyntax {
    /// The accessors, when they are spelled out.
    var list: AccessorDeclListSyntax? {
      if case .accessors(let list) = accessors { return list }
      return nil
    }

    /// Computed, as opposed to stored with observers.
    var isComputed: Bool {
      guard let list else { return true }
      return list.contains { ![.keyword(.willSet), .keyword(.didSet)].contains($0.accessorSpecifier.tokenKind) }
    }

    var hasEffects: Bool { list?.contains { $0.effectSpecifiers != nil } ?? false }

    func observer(_ keyword: Keyword) -> AccessorDeclSyntax? {
      list?.first { $0.accessorSpecifier.tokenKind == .keyword(keyword) }
    }
  }

  extension PatternSyntax {
    /// The names that the pattern binds, in the order of the source.
    var names: [PropertyName] {
      if let identifier = self.as(IdentifierPatternSyntax.self) { return [PropertyName(identifier.identifier)] }
      if let tuple = self.as(TuplePatternSyntax.self) { return tuple.elements.flatMap(\.pattern.names) }
      if let binding = self.as(ValueBindingPatternSyntax.self) { return binding.pattern.names }
      if let expression = self.as(ExpressionPatternSyntax.self) {
        return PatternSyntax.namesBound(in: Syntax(expression))
      }
      return []
    }

    /// In `case .some(let x)`, the parser makes an expression out of what surrounds the binding.
    private static func namesBound(in node: Syntax) -> [PropertyName] {
      if let pattern = node.as(PatternExprSyntax.self) { return pattern.pattern.names }
      return node.children(viewMode: .sourceAccurate).flatMap(namesBound)
    }
  }
#endif
