// The names of a property in source code, in the runtime and in generated code.
#if Macros
  import SwiftParser
  import SwiftSyntax

  /// The name of an observable property in its three spellings.
  struct PropertyName: Hashable {
    /// The name that observers use, without backticks.
    let plain: String

    init(_ token: TokenSyntax) {
      self.init(plain: token.identifier?.name ?? token.text)
    }

    init(plain: String) {
      self.plain = plain
    }

    /// The name in a member access: `object.default` needs no backticks, but a raw identifier such as `two words` does.
    var member: String { plain.isValidSwiftIdentifier(for: .memberAccess) ? plain : "`\(plain)`" }
    /// The name in a declaration, with keywords in backticks.
    var declared: String { plain.isValidSwiftIdentifier(for: .variableName) ? plain : "`\(plain)`" }
    /// The stored property of an observed property. `_default` is not a keyword and needs no backticks.
    var storage: PropertyName { PropertyName(plain: "_" + plain) }
    /// The name as a string literal.
    var literal: String {
      "\"" + plain.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\"") + "\""
    }
    /// The key that accessors pass to the runtime: the 64-bit FNV-1a hash of the UTF-8 name; 1 instead of 0.
    var key: String {
      let hash = plain.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
      let digits = String(max(hash, 1), radix: 16)
      return "0x" + String(repeating: "0", count: 16 - digits.count) + digits
    }
  }

  extension AttributeSyntax {
    /// The attribute's name without its module: `NotObserved` for `KeyValueObserving.NotObserved`.
    var baseName: String {
      if let member = attributeName.as(MemberTypeSyntax.self) { return member.name.text }
      return attributeName.as(IdentifierTypeSyntax.self)?.name.text ?? attributeName.trimmedDescription
    }
  }

  extension AttributeListSyntax {
    /// The attributes that are not in an `#if`.
    var unconditional: [AttributeSyntax] { compactMap { $0.as(AttributeSyntax.self) } }

    /// All attributes. A macro does not know which conditions hold: `canImport` can only be evaluated by the compiler. Those of the
    /// library count in any case, because source that is shared with other platforms has them in an `#if` that holds here.
    var all: [AttributeSyntax] {
      flatMap { element -> [AttributeSyntax] in
        switch element {
        case .attribute(let attribute): return [attribute]
        case .ifConfigDecl(let condition):
          return condition.clauses.flatMap { clause -> [AttributeSyntax] in
            if case .attributes(let attributes) = clause.elements { return attributes.all }
            return []
          }
        }
      }
    }

    func first(named name: String) -> AttributeSyntax? { all.first { $0.baseName == name } }

    /// The global actor attribute. By convention, its name ends in `Actor`.
    var actor: AttributeSyntax? { all.first { $0.baseName.hasSuffix("Actor") } }
  }

  extension DeclModifierListSyntax {
    func has(_ keywords: Keyword...) -> Bool {
      contains { modifier in keywords.contains { modifier.name.tokenKind == .keyword($0) } }
    }

    /// The access modifier without a detail: `public`, but not `private(set)`.
    var access: Keyword? {
      let levels: [Keyword] = [.open, .public, .package, .internal, .fileprivate, .private]
      return levels.first { level in contains { $0.detail == nil && $0.name.tokenKind == .keyword(level) } }
    }
  }
#endif
