// The fix-its of the plug-in's diagnostics.
#if Macros
  import SwiftDiagnostics
  import SwiftSyntax

  extension FixIt {
    static func splitOrNotObserved(_ declaration: VariableDeclSyntax) -> FixIt {
      declaration.splitIntoDeclarations ?? insertNotObserved(declaration)
    }

    /// Removes an attribute and the white space after it.
    static func remove(_ attribute: AttributeSyntax) -> FixIt {
      let end = attribute.nextToken(viewMode: .sourceAccurate)?.positionAfterSkippingLeadingTrivia
      return FixIt(
        message: Message(id: "remove", message: "remove '@\(attribute.baseName)'"),
        changes: [
          .replaceText(
            range: attribute.positionAfterSkippingLeadingTrivia..<(end ?? attribute.endPosition), with: "",
            in: attribute.root)
        ]
      )
    }

    static func insertNotObserved(_ declaration: VariableDeclSyntax) -> FixIt {
      let start = declaration.positionAfterSkippingLeadingTrivia
      return FixIt(
        message: Message(id: "insertNotObserved", message: "insert '@NotObserved'"),
        changes: [.replaceText(range: start..<start, with: "@NotObserved ", in: declaration.root)]
      )
    }

    static func makeVariable(_ declaration: VariableDeclSyntax) -> FixIt {
      let keyword = declaration.bindingSpecifier
      return FixIt(
        message: Message(id: "makeVariable", message: "replace '\(keyword.text)' with 'var'"),
        changes: [.replace(oldNode: Syntax(keyword), newNode: Syntax(keyword.with(\.tokenKind, .keyword(.var))))]
      )
    }
  }

  extension VariableDeclSyntax {
    /// Rewrites `var a = 1, b = 2` or `var (a, b) = (1, 2)` as one declaration per name; `nil` if a value cannot be split.
    var splitIntoDeclarations: FixIt? {
      guard let parts = separateBindings else { return nil }
      let plain = with(\.leadingTrivia, [])
      let head = plain.attributes.description + plain.modifiers.description + bindingSpecifier.trimmedDescription + " "
      let indentation = leadingTrivia.description.split(separator: "\n", omittingEmptySubsequences: false).last ?? ""
      let text = parts.map { head + $0 }.joined(separator: "\n" + indentation)
      return FixIt(
        message: Message(id: "split", message: "declare each on a line of its own"),
        changes: [
          .replaceText(
            range: positionAfterSkippingLeadingTrivia..<endPositionBeforeTrailingTrivia, with: text, in: root)
        ]
      )
    }

    private var separateBindings: [String]? {
      // In `var a, b: Int` the type applies to both names, so the bindings are visited in reverse order.
      var parts: [String] = []
      var type: TypeAnnotationSyntax?
      for binding in bindings.reversed() {
        type = binding.typeAnnotation ?? (binding.initializer == nil ? type : nil)
        if let tuple = binding.pattern.as(TuplePatternSyntax.self) {
          guard let elements = tuple.split(type: type?.type, value: binding.initializer?.value) else { return nil }
          parts.append(contentsOf: elements.reversed())
        } else {
          var part = binding.pattern.trimmedDescription + (type?.trimmedDescription ?? "")
          if let value = binding.initializer { part += " " + value.trimmedDescription }
          if let accessors = binding.accessorBlock { part += " " + accessors.trimmedDescription }
          parts.append(part)
        }
      }
      return parts.reversed()
    }
  }

  extension TuplePatternSyntax {
    fileprivate func split(type: TypeSyntax?, value: ExprSyntax?) -> [String]? {
      let types = type?.as(TupleTypeSyntax.self)?.elements.map(\.type.trimmedDescription)
      let values = value?.as(TupleExprSyntax.self)?.elements.map(\.expression.trimmedDescription)
      guard (types == nil) == (type == nil), types.map({ $0.count == elements.count }) ?? true,
        (values == nil) == (value == nil), values.map({ $0.count == elements.count }) ?? true
      else { return nil }
      return zip(elements, 0...).map { element, index in
        let type = types.map { ": " + $0[index] } ?? ""
        return element.pattern.trimmedDescription + type + (values.map { " = " + $0[index] } ?? "")
      }
    }
  }
#endif
