// Overridable members: generated in the root class of a hierarchy, so that subclasses can override them.
#if Macros
  import SwiftSyntax

  /// A protocol requirement that subclasses override. The default implementation in the protocol extension would be statically
  /// bound, and a subclass could not override it.
  struct Hook {
    private let name: String
    /// The labels of a function's arguments; `nil` for a property.
    private let labels: [String]?
    private let declaration: String
    private let body: String
    /// Whether strict memory safety requires `@safe`.
    private var isPointer = false

    /// Returns the declarations of the hooks that a class does not declare itself; none for a final class, which uses the
    /// protocol's defaults.
    static func missing(in shape: ClassShape) -> [DeclSyntax] {
      guard !shape.isFinal else { return [] }
      return all.filter { !$0.isDeclared(in: shape) }.map { hook in
        """
        \(raw: hook.isPointer ? "@safe " : "")\(raw: shape.overridableAccess)nonisolated \(raw: hook.declaration) {
          \(raw: hook.body)
        }
        """
      }
    }

    private func isDeclared(in shape: ClassShape) -> Bool {
      guard let labels else { return shape.declaresVariable(name) }
      return shape.declaresFunction(name, labels)
    }

    private static let all = [
      Hook(
        name: "automaticallyNotifiesObservers", labels: ["forKey"],
        declaration: "class func automaticallyNotifiesObservers(forKey key: Swift.String) -> Swift.Bool",
        body: "KeyValueObserving._KeyValueDefaults.automaticallyNotifiesObservers(self, forKey: key)"),
      Hook(
        name: "keyPathsForValuesAffectingValue", labels: ["forKey"],
        declaration: "class func keyPathsForValuesAffectingValue(forKey key: Swift.String) -> Swift.Set<Swift.String>",
        body: "KeyValueObserving._KeyValueDefaults.keyPathsForValuesAffectingValue(self, forKey: key)"),
      Hook(
        name: "accessInstanceVariablesDirectly", labels: nil,
        declaration: "class var accessInstanceVariablesDirectly: Swift.Bool", body: "true"),
      Hook(
        name: "value", labels: ["forKey"], declaration: "func value(forKey key: Swift.String) -> Any?",
        body: "codedValue(forKey: key)"),
      Hook(
        name: "setValue", labels: ["_", "forKey"],
        declaration: "func setValue(_ value: Any?, forKey key: Swift.String)",
        body: "setCodedValue(value, forKey: key)"),
      Hook(
        name: "value", labels: ["forUndefinedKey"],
        declaration: "func value(forUndefinedKey key: Swift.String) -> Any?",
        body: "KeyValueObserving._KeyValueDefaults.value(self, forUndefinedKey: key)"),
      Hook(
        name: "setValue", labels: ["_", "forUndefinedKey"],
        declaration: "func setValue(_ value: Any?, forUndefinedKey key: Swift.String)",
        body: "KeyValueObserving._KeyValueDefaults.setValue(self, value, forUndefinedKey: key)"),
      Hook(
        name: "setNilValueForKey", labels: ["_"], declaration: "func setNilValueForKey(_ key: Swift.String)",
        body: "KeyValueObserving._KeyValueDefaults.setNilValueForKey(self, key)"),
      Hook(
        name: "validateValue", labels: ["_", "forKey"],
        declaration: "func validateValue(_ value: inout Any?, forKey key: Swift.String) throws",
        body: "try KeyValueObserving._KeyValueDefaults.validateValue(self, &value, forKey: key)"),
      Hook(
        name: "observationInfo", labels: nil,
        declaration: "var observationInfo: Swift.UnsafeMutableRawPointer?",
        body: "KeyValueObserving._KeyValueDefaults.observationInfo(self)", isPointer: true),
    ]
  }

  /// A method `validate<Key>(_: inout Any?)` of the class, which key-value coding calls for the key.
  struct KeyValidator {
    private let function: FunctionDeclSyntax
    private let key: PropertyName

    /// `nil` for any other member.
    init?(_ member: DeclSyntax) {
      guard let function = member.as(FunctionDeclSyntax.self), !function.modifiers.has(.static, .class) else {
        return nil
      }
      let signature = function.signature
      let name = PropertyName(function.name).plain
      guard name.hasPrefix("validate"), name != "validate", signature.effectSpecifiers?.asyncSpecifier == nil,
        let parameter = signature.parameterClause.parameters.first, signature.parameterClause.parameters.count == 1,
        parameter.firstName.tokenKind == .wildcard, parameter.type.trimmedDescription == "inout Any?"
      else { return nil }
      self.function = function
      key = PropertyName(plain: String(name.dropFirst("validate".count)))
    }

    var listing: [String] {
      let call = "object.\(PropertyName(function.name).member)(&value)"
      let attempt = function.signature.effectSpecifiers?.throwsClause == nil ? call : "try \(call)"
      let entry =
        "description.validating(\(key.literal)) { (object: __Root, value: inout Any?) throws in \(attempt) }"
      guard let actor = function.attributes.actor else { return [entry] }
      return isolated(entry, to: actor, "__validate_" + key.plain)
    }
  }

  /// Wraps a line of the property list that only code isolated to an actor may contain.
  func isolated(_ line: String, to actor: AttributeSyntax, _ function: String) -> [String] {
    let function = PropertyName(plain: function).declared
    return [
      "\(actor.trimmedDescription) func \(function)(_ description: KeyValueObserving.KeyValueClassDescription) {",
      "  \(line)",
      "}",
      "KeyValueObserving.KeyValueClassDescription.__nonisolated(\(function))(description)",
    ]
  }
#endif
