// The list of a class's properties. It is generic over the root type, so that key paths of a subclass find inherited properties.
#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacros

  extension KeyValueObservableMacro {
    /// - Parameters:
    ///   - inherits: Whether the superclass has a property list.
    ///   - more: The properties of a superclass that has none.
    static func propertyList(
      _ shape: ClassShape, inherits: Bool, andLists more: [String], in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
      let description = "KeyValueObserving.KeyValueClassDescription"
      // The function's name contains the class name, because a class may be nested in its superclass.
      let own = PropertyName(plain: "__describeOwn" + PropertyName(shape.declaration.name).plain).declared
      var lines = inherits ? ["super.__keyValueProperties(__Root.self, description)"] : []
      lines += more.filter { !shape.declaresVariable($0) }.map { "description.property(\"\($0)\", \\__Root.\($0))" }
      if shape.declaresFunction("value", ["forKey"]) { lines.append("description.answersKeys()") }
      if shape.declaresFunction("value", ["forUndefinedKey"]) { lines.append("description.answersUndefinedKeys()") }
      lines += AnnouncedKeys(in: shape.declaration).listing
      lines += shape.lines { member in
        if let question = KeyQuestion(member) { return [question.listing] }
        if let validator = KeyValidator(member) { return validator.listing }
        guard let variable = member.as(VariableDeclSyntax.self) else { return [] }
        return shape.properties(of: variable).filter {
          $0.isListed(inherits: inherits) && (shape.isFinal || !$0.namesSelf)
        }.flatMap { $0.listing(in: shape) }
      }
      // Swift 6 warns if a generic method without an actor is used as a value; calling it is fine.
      let call =
        shape.hasConstraints(in: context) && shape.declaration.attributes.actor == nil
        ? "\(own)(description)" : "\(description).__nonisolated(\(own))(description)"
      return [
        """
        \(raw: shape.access)class func __keyValueProperties<__Root: \(raw: shape.type)>(_: __Root.Type, _ description: \(raw: description)) {
          \(raw: lines.joined(separator: "\n  "))
        }
        """,
        // A key path to a property of an actor can only be written in code isolated to that actor; this function has the isolation
        // of the class. It uses `Self`, because a subclass without the macro also has its own key paths.
        """
        private class func \(raw: own)(_ description: \(raw: description)) {
          __keyValueProperties(Self.self, description.__of(\(raw: shape.type).self))
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
    /// Returns whether the list contains the property.
    fileprivate func isListed(inherits: Bool) -> Bool {
      // An override of an observed property is in the superclass's list; a second entry would hide that one.
      isListed && !(inherits && declaration.modifiers.has(.override))
    }

    fileprivate func listing(in shape: ClassShape) -> [String] {
      let isHidden = declaration.isHidden(fromSubclassesOf: shape.declaration)
      let description = isHidden ? "description.__declared(in: \(shape.type).self)" : "description"
      let isWeak = declaration.modifiers.has(.weak)
      // For a property that retains its value, also the path from an optional object.
      let isOwning = !isWeak && !declaration.modifiers.has(.unowned)
      let chained =
        isOwning
        ? ", \\__Root?.?.\(name.member), get: { $0.\(name.member) }, inPlace: { $1(&$0.\(name.member)) }, "
          + "set: { $0.\(name.member) = $1 }" : ""
      let path = "description.__paths(of: __Root.self).\(name.member)"
      // With the type of the object, for a property without a key path.
      let read = "read: { (object: __Root, body) in body(object.\(name.member)) }"
      let entry =
        switch kind {
        case .observed:
          "\(description).observed\(isWeak ? "Weak" : "")(\(name.literal), \(name.key), \\__Root.\(name.member)\(chained))"
        case .stored: "\(description).stored(\(name.literal), \(path), \(read))"
        case .lazy: "\(description).stored(\(name.literal), \(path))"
        case .wrapped: "\(description).__wrapped(\(name.literal), \(path), \(read))"
        case .computed: "\(description).property(\(name.literal), \(path), \(read))"
        }
      var lines = [entry]
      if declaration.isDeprecated {
        // Only a deprecated declaration may use the property without a warning. The second line uses the first.
        let constant = PropertyName(plain: "__deprecated_" + name.plain).declared
        let user = PropertyName(plain: "__deprecated_" + name.plain + "_").declared
        lines = [
          "@available(*, deprecated) let \(constant): Swift.Void = \(entry)",
          "@available(*, deprecated) var \(user): Swift.Void { \(constant) }",
        ]
      }
      guard let actor else { return lines }
      return isolated(lines.joined(separator: "\n  "), to: actor, "__describe_" + name.plain)
    }
  }
#endif
