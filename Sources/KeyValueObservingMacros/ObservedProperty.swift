// What an observed property expands to. Its hidden costs are here: one load and a test in each accessor, and no copy in
// `_modify`. All else is in calls that are never inlined, so that the accessors themselves are.
#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacros

  struct ObservedProperty {
    private let declaration: VariableDeclSyntax
    private let binding: PatternBindingSyntax
    private let name: PropertyName
    private let isFinal: Bool

    init?(_ declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext) {
      guard let declaration = declaration.as(VariableDeclSyntax.self), declaration.misuse == nil,
        let binding = declaration.bindings.first, let name = binding.pattern.names.first
      else { return nil }
      self.declaration = declaration
      self.binding = binding
      self.name = name
      let owner = context.lexicalContext.first?.as(ClassDeclSyntax.self)
      isFinal = declaration.modifiers.has(.final) || owner?.modifiers.has(.final) ?? false
    }

    /// The stored property: what the user declared, without what belongs to the accessors.
    var storage: DeclSyntax {
      let modifiers = declaration.modifiers.filter { modifier in
        let kept: [Keyword] = [.weak, .unowned, .nonisolated]
        return kept.contains { modifier.name.tokenKind == .keyword($0) }
      }
      // Checking exclusivity costs calls on each access. A collection pays for them, as it does in a plain class: mutating it
      // can run other code, an element's death among it, which must not find it half changed.
      // It is safe as the property of a class in another module is: two threads that set it at once need a lock.
      let access = isCollection ? "private" : "@safe @exclusivity(unchecked) private"
      let prefix =
        [declaration.attributes.actor?.trimmedDescription, access].compactMap(\.self)
        + modifiers.map(\.trimmedDescription) + ["var \(stored)"]
      let type = binding.typeAnnotation?.trimmedDescription ?? ""
      guard let initializer = binding.initializer else { return "\(raw: prefix.joined(separator: " "))\(raw: type)" }
      return "\(raw: prefix.joined(separator: " "))\(raw: type) \(initializer.trimmed)"
    }

    var accessors: [AccessorDeclSyntax] {
      let initializer: AccessorDeclSyntax =
        """
        @storageRestrictions(initializes: \(raw: stored))
        init(initialValue) {
          \(raw: stored) = initialValue
        }
        """
      let getter: AccessorDeclSyntax =
        """
        get {
          guard _$kvo.isTracking else {
            return \(raw: stored)
          }
          return _$kvo.\(raw: declaration.modifiers.has(.weak) ? "trackedWeak" : "tracked")(self, \(raw: name.key), { self.\(raw: member) })
        }
        """
      // A reference that is weak or unowned has no address that could be lent out, and observers have to run after
      // the change, whatever way it comes.
      let isPlain = willSet == nil && didSet == nil && !declaration.modifiers.has(.weak, .unowned)
      guard isPlain else { return [initializer, getter, observedSetter] }
      return [initializer, getter, plainSetter, modifier]
    }

    private var stored: String { name.storage.declared }
    private var member: String { name.storage.member }
    private var willSet: AccessorDeclSyntax? { binding.accessorBlock?.observer(.willSet) }
    private var didSet: AccessorDeclSyntax? { binding.accessorBlock?.observer(.didSet) }

    /// What observers see: the getter when a subclass may override it.
    private var value: String { "self." + (isFinal ? name.storage.member : name.member) }

    /// The store. What a collection held dies after the access to it, for its death may be observed, and the collection read.
    private func store(_ storage: String) -> String {
      guard isCollection else { return "\(storage) = newValue" }
      return "let __kvoOld = \(storage)\n\(storage) = newValue\nSwift.withExtendedLifetime(__kvoOld) {\n}"
    }

    /// Whether the source shows an array, a dictionary or a set.
    private var isCollection: Bool {
      let names = ["Array", "ContiguousArray", "ArraySlice", "Dictionary", "Set"]
      func isCollection(_ text: String) -> Bool {
        let text = text.hasPrefix("Swift.") ? String(text.dropFirst(6)) : text
        return text.hasPrefix("[") || names.contains { text.hasPrefix($0 + "<") || text.hasPrefix($0 + "(") }
      }
      if let type = binding.typeAnnotation?.type { return isCollection(type.trimmedDescription) }
      return (binding.initializer?.value.trimmedDescription).map(isCollection) ?? false
    }

    private var plainSetter: AccessorDeclSyntax {
      """
      set {
        guard _$kvo.isObserved else {
          \(raw: store(stored))
          _$kvo.stored(\(raw: name.key), { \(raw: value) })
          return
        }
        _$kvo.change(\(raw: name.key), { \(raw: value) }, { \(raw: store("self." + member)) })
      }
      """
    }

    private var modifier: AccessorDeclSyntax {
      """
      _modify {
        guard _$kvo.isObserved else {
          yield &\(raw: stored)
          return
        }
        let __kvoChange = _$kvo.beginChange(\(raw: name.key), { \(raw: value) })
        defer {
          __kvoChange.finish({ \(raw: value) })
        }
        yield &\(raw: stored)
      }
      """
    }

    /// The setter of a property with `willSet` or `didSet`, or of a weak or unowned one.
    private var observedSetter: AccessorDeclSyntax {
      guard willSet != nil || didSet != nil else { return plainSetter }
      var body: [String] = []
      if let willSet {
        body += call(of: willSet, "__kvoWillSet", parameter: "newValue", value: "__kvoNewValue")
      }
      // Swift reads the old value only for a `didSet` that mentions it.
      if let didSet, didSet.mentions(didSet.parameters?.name.text ?? "oldValue") {
        body.append("let __kvoOldValue\(typeAnnotation) = \(stored)")
      }
      body.append("\(stored) = __kvoNewValue")
      if let didSet {
        body += call(of: didSet, "__kvoDidSet", parameter: "oldValue", value: "__kvoOldValue")
      }
      // One function for both ways, so that the user's bodies occur once.
      return
        """
        set(__kvoNewValue) {
          func __kvoStore() {
            \(raw: body.joined(separator: "\n    "))
          }
          guard _$kvo.isObserved else {
            __kvoStore()
            _$kvo.stored(\(raw: name.key), { \(raw: value) })
            return
          }
          _$kvo.change(\(raw: name.key), { \(raw: value) }, __kvoStore)
        }
        """
    }

    /// The user's body in a function of its own, so that a `return` in it leaves nothing but itself.
    private func call(
      of observer: AccessorDeclSyntax, _ function: String, parameter: String, value: String
    ) -> [String] {
      let parameter = observer.parameters?.name.text ?? parameter
      let isMentioned = observer.mentions(parameter)
      let binding = isMentioned ? ["  let \(parameter)\(typeAnnotation) = \(value)"] : []
      let body = observer.body.map { StorageRewriter.rewrite($0.statements, property: self.name) } ?? []
      return ["do {"] + binding + ["  func \(function)() {"] + body.lines.map { "    " + $0 } + [
        "  }", "  \(function)()", "}",
      ]
    }

    /// With its colon. It keeps an implicitly unwrapped optional one.
    private var typeAnnotation: String {
      binding.typeAnnotation.map { ": " + $0.type.trimmedDescription } ?? ""
    }
  }

  extension CodeBlockItemListSyntax {
    /// The source, indented no more than its least indented line. Empty lines may belong to a string: they stay.
    fileprivate var lines: [String] {
      var lines = description.split(separator: "\n", omittingEmptySubsequences: false)[...]
      while lines.first?.allSatisfy(\.isWhitespace) ?? false { lines.removeFirst() }
      while lines.last?.allSatisfy(\.isWhitespace) ?? false { lines.removeLast() }
      let margins = lines.filter { !$0.allSatisfy(\.isWhitespace) }.map { $0.prefix { $0 == " " }.count }
      return lines.map { String($0.dropFirst(Swift.min(margins.min() ?? 0, $0.prefix { $0 == " " }.count))) }
    }
  }
#endif
