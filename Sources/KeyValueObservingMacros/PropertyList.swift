// The list of a class's properties: generic over the root, so that a subclass's key paths find inherited properties.
#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacros

  extension KeyValueObservableMacro {
    /// - Parameters:
    ///   - inherits: Whether the superclass has such a list.
    ///   - more: Properties of a superclass that has none.
    static func propertyList(
      _ shape: ClassShape, inherits: Bool, andLists more: [String], in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
      let description = "KeyValueObserving.KeyValueClassDescription"
      // The name carries the class's, for a class may be nested in the one that it inherits from.
      let own = "__describeOwn" + PropertyName(shape.declaration.name).plain
      var lines = inherits ? ["super.__keyValueProperties(__Root.self, description)"] : []
      lines += more.filter { !shape.declaresVariable($0) }.map { "description.property(\"\($0)\", \\__Root.\($0))" }
      if shape.declaresFunction("value", ["forKey"]) { lines.append("description.answersKeys()") }
      if shape.declaresFunction("value", ["forUndefinedKey"]) { lines.append("description.answersUndefinedKeys()") }
      lines += AnnouncedKeys(in: shape.declaration).listing
      lines += shape.lines { member in
        if let question = KeyQuestion(member) { return [question.listing] }
        if let validator = KeyValidator(member) { return validator.listing }
        guard let variable = member.as(VariableDeclSyntax.self) else { return [] }
        return shape.properties(of: variable).filter { $0.isListed(inherits: inherits) }.flatMap(\.listing)
      }
      // Of a generic method of no actor, Swift 6 refuses to make a value without a warning; but it can be called.
      let call =
        shape.hasConstraints(in: context) && shape.declaration.attributes.actor == nil
        ? "\(own)(description)" : "\(description).nonisolated(\(own))(description)"
      return [
        """
        \(raw: shape.access)class func __keyValueProperties<__Root: \(raw: shape.type)>(_: __Root.Type, _ description: \(raw: description)) {
          \(raw: lines.joined(separator: "\n  "))
        }
        """,
        // A key path to a property of an actor can only be written on that actor; this function is, as the class is. `Self`, for
        // a subclass without the macro has key paths of its own, too.
        """
        private class func \(raw: own)(_ description: \(raw: description)) {
          __keyValueProperties(Self.self, description.of(\(raw: shape.type).self))
        }
        """,
        """
        \(raw: shape.overridableAccess)nonisolated \(raw: inherits ? "override " : "")class func __describeKeyValueProperties(_ description: \(raw: description)) {
          \(raw: call)
        }
        """,
      ]
    }
  }

  extension Property {
    /// Whether a key path can name the property here.
    fileprivate func isListed(inherits: Bool) -> Bool {
      // What overrides an observed property is in the superclass's list, and a second entry would hide it.
      isListed && !(inherits && declaration.modifiers.has(.override))
    }

    fileprivate var listing: [String] {
      let isWeak = declaration.modifiers.has(.weak)
      // Of a property that owns its value: the path from an optional object too.
      let isOwning = !isWeak && !declaration.modifiers.has(.unowned)
      let chained = isOwning ? ", \\__Root?.?.\(name.member), inPlace: { $1(&$0.\(name.member)) }" : ""
      let entry =
        kind == .observed
        ? "description.observed\(isWeak ? "Weak" : "")(\(name.literal), \(name.key), \\__Root.\(name.member)\(chained))"
        : "description.\(kind == .stored ? "stored" : "property")(\(name.literal), description.paths(of: __Root.self).\(name.member))"
      if declaration.isDeprecated {
        // Only what is deprecated itself may mention the property without a warning; the second line uses the first.
        let constant = "__deprecated_" + name.plain
        return [
          "@available(*, deprecated) let \(constant): Swift.Void = \(entry)",
          "@available(*, deprecated) var \(constant)_: Swift.Void { \(constant) }",
        ]
      }
      guard let actor else { return [entry] }
      return isolated(entry, to: actor, "__describe_" + name.plain)
    }
  }
#endif
