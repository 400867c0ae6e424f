// The classification of a class's properties: observed, listed only, or misused.
#if Macros
  import SwiftSyntax

  /// One property of a class, as its declaration describes it.
  struct Property {
    enum Kind {
      /// A stored `var`, for which the macro generates accessors and a storage.
      case observed
      /// A `let`, or a `var` with `@NotObserved`.
      case stored
      /// A `var` with `@NotObserved` and an attribute that appears to be a property wrapper.
      case wrapped
      case lazy
      case computed
    }

    let name: PropertyName
    let kind: Kind
    let declaration: VariableDeclSyntax
    let binding: PatternBindingSyntax

    /// Whether `init(from:)` can assign it.
    var isAssignable: Bool { declaration.isVariable || binding.initializer == nil }

    /// The name of the stored property that contains the value.
    var storage: PropertyName { kind == .observed || kind == .wrapped ? name.storage : name }

    /// Whether Swift allows a key path to the property.
    var isListed: Bool {
      !declaration.isUnavailable && !(binding.accessorBlock?.hasEffects ?? false)
    }

    /// Whether the type contains `Self`. In a class that is not final a key path to such a property traps when it is created.
    var namesSelf: Bool {
      binding.typeAnnotation?.type.tokens(viewMode: .sourceAccurate).contains {
        $0.tokenKind == .keyword(.Self) && $0.nextToken(viewMode: .sourceAccurate)?.tokenKind != .period
      } ?? false
    }

    /// A global actor attribute on the property itself, which also isolates key paths to it.
    var actor: AttributeSyntax? { declaration.attributes.actor }
  }

  extension ClassShape {
    /// Returns whether the macro generates accessors for the property.
    func observes(_ declaration: VariableDeclSyntax) -> Bool {
      declaration.isObservable && declaration.misuse == nil && !isStorageTaken(declaration)
    }

    /// Returns the instance properties that a declaration declares; empty for a type property.
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

    /// Whether the class's macro applies to the property; see also ``misuse``.
    var isObservable: Bool {
      isVariable && !modifiers.has(.static, .class, .lazy, .override)
        && attributes.first(named: "NotObserved") == nil
        && bindings.contains { !($0.accessorBlock?.isComputed ?? false) }
    }

    /// Whether a subclass may not see the property, and may therefore declare another one of the same name.
    func isHidden(fromSubclassesOf owner: ClassDeclSyntax) -> Bool {
      guard !owner.modifiers.has(.final) else { return false }
      return switch modifiers.access {
      case .private, .fileprivate: true
      case .open, .public: false
      default: owner.modifiers.access == .open  // a subclass in another module
      }
    }

    var isUnavailable: Bool { hasAvailability(.keyword(.unavailable)) }
    var isDeprecated: Bool { hasAvailability(.keyword(.deprecated)) }

    /// On all platforms: what is unavailable on one of Apple's is not here.
    private func hasAvailability(_ kind: TokenKind) -> Bool {
      attributes.all.contains { attribute in
        guard attribute.baseName == "available", case .availability(let arguments) = attribute.arguments else {
          return false
        }
        let words = arguments.compactMap { $0.argument.as(TokenSyntax.self) }
        return words.first?.text == "*" && words.contains { $0.tokenKind == kind }
      }
    }

    /// An attribute that may be a property wrapper. Only the spelling can tell: attributes of the language are lowercase with few
    /// exceptions, and global actors and result builders are named with a suffix by convention. One in an `#if` is taken for another
    /// platform's, such as `@Published`.
    var possibleWrapper: AttributeSyntax? {
      let known: Set = [
        "IBInspectable", "IBOutlet", "GKInspectable", "NSCopying", "NSManaged", "NotObserved", "KeyValueObservable",
      ]
      return attributes.unconditional.first {
        let name = $0.baseName
        return name.first?.isUppercase ?? false && !known.contains(name) && !name.hasSuffix("Actor")
          && !name.hasSuffix("Builder")
      }
    }
  }

  extension AccessorBlockSyntax {
    /// The accessors, if they are written explicitly.
    var list: AccessorDeclListSyntax? {
      if case .accessors(let list) = accessors { return list }
      return nil
    }

    /// Whether the property is computed, as opposed to stored with property observers.
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
    /// The names that the pattern binds, in source order.
    var names: [PropertyName] {
      if let identifier = self.as(IdentifierPatternSyntax.self) { return [PropertyName(identifier.identifier)] }
      if let tuple = self.as(TuplePatternSyntax.self) { return tuple.elements.flatMap(\.pattern.names) }
      if let binding = self.as(ValueBindingPatternSyntax.self) { return binding.pattern.names }
      if let expression = self.as(ExpressionPatternSyntax.self) {
        return PatternSyntax.namesBound(in: Syntax(expression))
      }
      return []
    }

    /// In `case .some(let x)` the parser wraps the binding in an expression.
    private static func namesBound(in node: Syntax) -> [PropertyName] {
      if let pattern = node.as(PatternExprSyntax.self) { return pattern.pattern.names }
      return node.children(viewMode: .sourceAccurate).flatMap(namesBound)
    }
  }
#endif
