// Codable: coding keys that map the storage of an observed property to the property's name in Swift's synthesis.
#if Macros
  import SwiftSyntax

  struct Coding {
    private let shape: ClassShape
    private let encodes: Bool
    private let decodes: Bool
    /// Whether the class declaration itself declares the conformance, rather than an extension or a superclass.
    private let isDeclaredHere: Bool

    /// - Parameter missing: The protocols that the class does not yet conform to, according to the compiler.
    init(shape: ClassShape, missing: Set<String>) {
      self.shape = shape
      let inherited = shape.inherited
      isDeclaredHere = !inherited.isDisjoint(with: ["Codable", "Encodable", "Decodable"])
      encodes = !missing.contains("Encodable") && !shape.declaresFunction("encode", ["to"])
      decodes = !missing.contains("Decodable") && !shape.declaresDecodingInitializer
    }

    var members: [DeclSyntax] {
      guard encodes || decodes else { return [] }
      if shape.declaresCodingKeys {
        return isDeclaredHere ? codingMethods : []
      }
      // A subclass of a Codable class: Swift synthesizes nothing for it, and its `CodingKeys` may be the superclass's.
      if !isDeclaredHere, shape.declaration.inheritanceClause != nil, shape.mentionsCodingKeys { return [] }
      return codingKeys.map { [$0] } ?? []
    }

    // MARK: - Without coding keys in the class

    private var codingKeys: DeclSyntax? {
      let cases = lines { property in
        let raw = property.kind == .observed ? " = \(property.name.literal)" : ""
        return "case \((property.kind == .observed ? property.storage : property.name).declared)\(raw)"
      }
      guard !cases.isEmpty else { return nil }
      // Handwritten code can use `.title`, as it can with the keys that Swift synthesizes.
      let aliases = lines { property in
        guard property.kind == .observed else { return nil }
        return "static var \(property.name.declared): CodingKeys { .\(property.storage.member) }"
      }
      return
        """
        private enum CodingKeys: Swift.String, Swift.CodingKey {
          \(raw: (cases + aliases).joined(separator: "\n  "))
        }
        """
    }

    private func lines(_ line: (Property) -> String?) -> [String] {
      shape.lines { member in
        guard let variable = member.as(VariableDeclSyntax.self) else { return [] }
        return shape.properties(of: variable).filter(\.isCoded).compactMap(line)
      }
    }

    // MARK: - With coding keys in the class

    /// Swift's synthesis needs stored properties with the names of the declared cases, but the observed properties are computed.
    private var codingMethods: [DeclSyntax] {
      let properties = shape.variables.flatMap(shape.properties).filter(\.isCoded)
      let keys = shape.codingKeys.flatMap { ClassShape.flat($0.memberBlock.members) }.flatMap(\.keys)
      // If the cases name no observed property, or an unknown one, Swift's own synthesis and its errors are sufficient.
      let namesObserved = keys.contains { key in properties.contains { $0.kind == .observed && $0.name == key } }
      guard namesObserved, keys.allSatisfy({ key in properties.contains { $0.isCoded(by: key) } }) else { return [] }
      var methods: [DeclSyntax] = []
      if decodes {
        if shape.losesImplicitInitializer { methods.append("init() {}") }
        let lines = codedLines { key, property in
          guard property.isAssignable else { return nil }
          return "self.\(property.storage.member) = try container.__keyValueDecode(forKey: .\(key.member))"
        }
        methods.append(
          """
          \(raw: shape.access)required init(from decoder: any Swift.Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            \(raw: lines.joined(separator: "\n  "))
          }
          """)
      }
      if encodes {
        let lines = codedLines { key, property in
          "try container.__keyValueEncode(self.\(property.storage.member), forKey: .\(key.member))"
        }
        methods.append(
          """
          \(raw: shape.overridableAccess)func encode(to encoder: any Swift.Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            \(raw: lines.joined(separator: "\n  "))
          }
          """)
      }
      return methods
    }

    /// Returns the line for each key and its property, in the `#if` blocks in which the keys, their cases and the property are.
    private func codedLines(_ line: (PropertyName, Property) -> String?) -> [String] {
      shape.lines { member in
        guard let keys = ClassShape.codingKeys(member) else { return [] }
        return ClassShape.lines(keys.memberBlock.members) { $0.keys.flatMap { lines(for: $0, line) } }
      }
    }

    private func lines(for key: PropertyName, _ line: (PropertyName, Property) -> String?) -> [String] {
      lines { $0.isCoded(by: key) ? line(key, $0) : nil }
    }
  }

  extension Property {
    /// Whether Swift's synthesis would code the property: stored ones that are not lazy.
    fileprivate var isCoded: Bool { kind != .computed && kind != .lazy }

    fileprivate func isCoded(by key: PropertyName) -> Bool { name == key || storage == key }

    /// Whether the declaration certainly gives the property a value: an expression, or `nil` for a `var` with `?` or `!`.
    fileprivate var hasDefault: Bool {
      if binding.initializer != nil { return true }
      guard declaration.isVariable, declaration.possibleWrapper == nil, let type = binding.typeAnnotation?.type else {
        return false
      }
      return type.is(OptionalTypeSyntax.self) || type.is(ImplicitlyUnwrappedOptionalTypeSyntax.self)
    }
  }

  extension DeclSyntax {
    /// The names of the cases that it declares.
    fileprivate var keys: [PropertyName] {
      (self.as(EnumCaseDeclSyntax.self)?.elements ?? []).map { PropertyName($0.name) }
    }
  }

  extension ClassShape {
    fileprivate var declaresDecodingInitializer: Bool {
      flatMembers.contains {
        guard let parameters = $0.as(InitializerDeclSyntax.self)?.signature.parameterClause.parameters else {
          return false
        }
        return parameters.count == 1 && parameters.first?.firstName.text == "from"
          && parameters.first?.type.tokens(viewMode: .sourceAccurate).contains { $0.text == "Decoder" } ?? false
      }
    }

    /// Whether Swift would give the class an `init()`, but for the written `init(from:)`, and the macro can write the same one. A first
    /// inherited type that is not known to be a protocol may be a superclass, which decides whether there is an `init()` to override.
    fileprivate var losesImplicitInitializer: Bool {
      let protocols: Set = [
        "Codable", "Decodable", "Encodable", "Sendable", "Equatable", "Hashable", "Comparable", "Identifiable",
        "CustomStringConvertible", "CustomDebugStringConvertible", "Error", "AnyObject",
      ]
      var first = declaration.inheritanceClause?.inheritedTypes.first?.type
      while let attributed = first?.as(AttributedTypeSyntax.self) { first = attributed.baseType }
      // A composition may contain a superclass.
      guard let first, first.is(IdentifierTypeSyntax.self) || first.is(MemberTypeSyntax.self),
        protocols.contains(first.lastToken(viewMode: .sourceAccurate)?.text ?? "")
      else { return false }
      let isWritten = flatMembers.contains {
        guard let initializer = $0.as(InitializerDeclSyntax.self) else { return false }
        return !initializer.modifiers.has(.convenience) || initializer.signature.parameterClause.parameters.isEmpty
      }
      return !isWritten && variables.flatMap(properties).allSatisfy { $0.kind == .computed || $0.hasDefault }
    }

    fileprivate var declaresCodingKeys: Bool {
      flatMembers.contains {
        $0.asProtocol((any NamedDeclSyntax).self)?.name.text == "CodingKeys"
          && ($0.is(TypeAliasDeclSyntax.self) || $0.isProtocol((any DeclGroupSyntax).self))
      }
    }

    /// The enums of the declared coding keys: several, if they are in the clauses of an `#if`.
    fileprivate var codingKeys: [EnumDeclSyntax] { flatMembers.compactMap(ClassShape.codingKeys) }

    fileprivate static func codingKeys(_ member: DeclSyntax) -> EnumDeclSyntax? {
      member.as(EnumDeclSyntax.self).flatMap { $0.name.text == "CodingKeys" ? $0 : nil }
    }

    fileprivate var mentionsCodingKeys: Bool {
      declaration.memberBlock.tokens(viewMode: .sourceAccurate).contains { $0.text == "CodingKeys" }
    }
  }
#endif
