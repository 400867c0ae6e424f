// Names: what a property is called in source, in the runtime, and in what the macros write.
#if Macros
  import SwiftParser
  import SwiftSyntax

  /// The name of an observable property in its three forms.
  struct PropertyName: Hashable {
    /// The name that users observe: no backticks.
    let plain: String

    init(_ token: TokenSyntax) {
      self.init(plain: token.identifier?.name ?? token.text)
    }

    init(plain: String) {
      self.plain = plain
    }

    /// As a member: `object.default` needs no backticks, though a raw identifier such as `two words` does.
    var member: String { plain.isValidSwiftIdentifier(for: .memberAccess) ? plain : "`\(plain)`" }
    /// As a declaration: keywords in backticks.
    var declared: String { plain.isValidSwiftIdentifier(for: .variableName) ? plain : "`\(plain)`" }
    /// The stored property behind an observed one. `_default` is no keyword, so it takes no backticks.
    var storage: PropertyName { PropertyName(plain: "_" + plain) }
    /// As a string literal.
    var literal: String {
      "\"" + plain.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\"") + "\""
    }
    /// The key by which accessors name the property to the runtime: FNV-1a, 64 bits, of the UTF-8 name; 1 in place of 0.
    var key: String {
      let hash = plain.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
      let digits = String(max(hash, 1), radix: 16)
      return "0x" + String(repeating: "0", count: 16 - digits.count) + digits
    }
  }

  extension AttributeSyntax {
    /// The attribute's name without its module: `KeyValueObserving.NotObserved` is `NotObserved`.
    var baseName: String {
      if let member = attributeName.as(MemberTypeSyntax.self) { return member.name.text }
      return attributeName.as(IdentifierTypeSyntax.self)?.name.text ?? attributeName.trimmedDescription
    }
  }

  extension AttributeListSyntax {
    func first(named name: String) -> AttributeSyntax? {
      lazy.compactMap { $0.as(AttributeSyntax.self) }.first { $0.baseName == name }
    }

    /// A global actor: by convention, its name ends so.
    var actor: AttributeSyntax? {
      lazy.compactMap { $0.as(AttributeSyntax.self) }.first { $0.baseName.hasSuffix("Actor") }
    }
  }

  extension DeclModifierListSyntax {
    func has(_ keywords: Keyword...) -> Bool {
      contains { modifier in keywords.contains { modifier.name.tokenKind == .keyword($0) } }
    }

    /// The access level that is written without a detail: `public`, not `private(set)`.
    var access: Keyword? {
      let levels: [Keyword] = [.open, .public, .package, .internal, .fileprivate, .private]
      return levels.first { level in contains { $0.detail == nil && $0.name.tokenKind == .keyword(level) } }
    }
  }
#endif
