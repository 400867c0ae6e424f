// The plug-in's diagnostics: each says what is wrong and what to write instead, and offers fix-its.
#if Macros
  import SwiftDiagnostics
  import SwiftSyntax

  /// A message with the identifier that tools use to distinguish messages.
  struct Message: DiagnosticMessage, FixItMessage {
    let id: String
    let message: String
    var severity = DiagnosticSeverity.error

    var diagnosticID: MessageID { MessageID(domain: "KeyValueObservingMacros", id: id) }
    var fixItID: MessageID { MessageID(domain: "KeyValueObservingMacros", id: "fixIt." + id) }
  }

  // MARK: - @KeyValueObservable

  extension Diagnostic {
    static func notAClass(_ attribute: AttributeSyntax, _ declaration: some DeclSyntaxProtocol) -> Diagnostic {
      let kind: String
      let name: String
      var keyword: TokenSyntax?
      if let node = declaration.as(StructDeclSyntax.self) {
        (kind, name, keyword) = ("struct", node.name.text, node.structKeyword)
      } else if let node = declaration.as(ActorDeclSyntax.self) {
        (kind, name, keyword) = ("actor", node.name.text, node.actorKeyword)
      } else if let node = declaration.as(EnumDeclSyntax.self) {
        (kind, name) = ("enum", node.name.text)
      } else if let node = declaration.as(ProtocolDeclSyntax.self) {
        (kind, name) = ("protocol", node.name.text)
      } else if let node = declaration.as(ExtensionDeclSyntax.self) {
        (kind, name) = ("extension of", node.extendedType.trimmedDescription)
      } else {
        (kind, name) = ("declaration", declaration.trimmedDescription)
      }
      let fix: FixIt
      if let keyword {
        fix = FixIt(
          message: Message(id: "makeClass", message: "replace '\(kind)' with 'class'"),
          changes: [
            .replace(oldNode: Syntax(keyword), newNode: Syntax(keyword.with(\.tokenKind, .keyword(.class))))
          ]
        )
      } else {
        fix = .remove(attribute)
      }
      let message = "'@\(attribute.baseName)' can only be applied to a class, not to \(kind) '\(name)'"
      return Diagnostic(node: attribute, message: Message(id: "notAClass", message: message), fixIt: fix)
    }

    static func observableTwice(_ attribute: AttributeSyntax, _ other: AttributeSyntax, _ name: String) -> Diagnostic {
      let message =
        "class '\(name)' cannot be both '@\(attribute.baseName)' and '@\(other.baseName)', for both replace the accessors "
        + "of its properties; remove one of them"
      return Diagnostic(
        node: attribute, message: Message(id: "observableTwice", message: message),
        fixIts: [.remove(other), .remove(attribute)])
    }

    static func parameterPack(
      _ attribute: AttributeSyntax, _ name: String, _ pack: GenericParameterSyntax
    ) -> Diagnostic {
      let message =
        "'@\(attribute.baseName)' cannot be applied to class '\(name)', for Swift has no key paths to properties of a class "
        + "with the parameter pack 'each \(pack.name.text)'"
      return Diagnostic(
        node: attribute, message: Message(id: "parameterPack", message: message), fixIt: .remove(attribute))
    }

    static func localClass(_ attribute: AttributeSyntax, _ name: String) -> Diagnostic {
      let message =
        "'@\(attribute.baseName)' cannot be applied to class '\(name)', which is declared in a function; move the class out of it"
      return Diagnostic(
        node: attribute, message: Message(id: "localClass", message: message), fixIt: .remove(attribute))
    }

    static func severalBindings(_ declaration: VariableDeclSyntax) -> Diagnostic {
      let names = declaration.bindings.flatMap(\.pattern.names).map { "'\($0.plain)'" }
      let message =
        "\(joined(names)) cannot be observed when one 'var' declares them together; give each a 'var' of its own"
      return Diagnostic(
        node: declaration, message: Message(id: "severalBindings", message: message),
        fixIt: .splitOrNotObserved(declaration))
    }

    static func tuplePattern(_ declaration: VariableDeclSyntax) -> Diagnostic {
      let names = declaration.bindings.flatMap(\.pattern.names).map { "'\($0.plain)'" }
      let message =
        "\(joined(names)) cannot be observed when a tuple pattern declares them; give each a 'var' of its own"
      return Diagnostic(
        node: declaration, message: Message(id: "tuplePattern", message: message),
        fixIt: .splitOrNotObserved(declaration))
    }

    static func lazy(_ declaration: VariableDeclSyntax, _ name: PropertyName) -> Diagnostic {
      let message =
        "'lazy' property '\(name.plain)' cannot be observed, for its first value comes from a read; "
        + "mark it '@NotObserved', or give it its value in the initializer"
      return Diagnostic(
        node: declaration, message: Message(id: "lazy", message: message), fixIt: .insertNotObserved(declaration))
    }

    static func wrapped(
      _ declaration: VariableDeclSyntax, _ name: PropertyName, _ attribute: AttributeSyntax
    ) -> Diagnostic {
      let message =
        "property '\(name.plain)' cannot be observed and have the attribute '@\(attribute.baseName)' as well; "
        + "mark it '@NotObserved', or remove '@\(attribute.baseName)'"
      return Diagnostic(
        node: declaration, message: Message(id: "wrapped", message: message),
        fixIts: [.insertNotObserved(declaration), .remove(attribute)])
    }

    static func opaque(_ declaration: VariableDeclSyntax, _ name: PropertyName, _ type: TypeSyntax) -> Diagnostic {
      let message =
        "property '\(name.plain)' of the opaque type '\(type.trimmedDescription)' cannot be observed; "
        + "name its type, or mark it '@NotObserved'"
      return Diagnostic(
        node: declaration, message: Message(id: "opaque", message: message), fixIt: .insertNotObserved(declaration))
    }

    static func storageTaken(_ declaration: VariableDeclSyntax, _ name: PropertyName) -> Diagnostic {
      let message =
        "property '\(name.plain)' cannot be observed, for its storage would be '\(name.storage.plain)', "
        + "which is declared already; rename that, or mark '\(name.plain)' '@NotObserved'"
      return Diagnostic(
        node: declaration, message: Message(id: "storageTaken", message: message),
        fixIt: .insertNotObserved(declaration))
    }

    private static func joined(_ names: [String]) -> String {
      guard let last = names.last, names.count > 1 else { return names.first ?? "this property" }
      return names.dropLast().joined(separator: ", ") + " and " + last
    }
  }

  // MARK: - @NotObserved and @_KeyValueObserved by hand

  extension Diagnostic {
    static func needless(_ attribute: AttributeSyntax, because reason: String) -> Diagnostic {
      let message = "'@NotObserved' has no effect on \(reason)"
      return Diagnostic(
        node: attribute, message: Message(id: "needless", message: message, severity: .warning),
        fixIt: .remove(attribute))
    }

    static func cannotObserve(_ attribute: AttributeSyntax, _ what: String, _ fix: FixIt? = nil) -> Diagnostic {
      let message = "'@\(attribute.baseName)' can only be applied to a stored instance 'var' of a class, not to \(what)"
      return Diagnostic(
        node: attribute, message: Message(id: "cannotObserve", message: message), fixIt: fix ?? .remove(attribute))
    }

    static func classNotObservable(_ attribute: AttributeSyntax, _ name: String) -> Diagnostic {
      let message =
        "'@\(attribute.baseName)' needs class '\(name)' to be observable; "
        + "mark the class '@KeyValueObservable', which observes every stored 'var'"
      return Diagnostic(
        node: attribute, message: Message(id: "classNotObservable", message: message), fixIt: .remove(attribute))
    }
  }
#endif
