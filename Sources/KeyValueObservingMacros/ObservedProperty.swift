// The expansion of an observed property. Its cost for an unobserved object is one load and one test per accessor, and `_modify`
// makes no copy. Everything else is in functions that are never inlined, so that the accessors can be.
#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacros

  struct ObservedProperty {
    private let declaration: VariableDeclSyntax
    private let binding: PatternBindingSyntax
    private let name: PropertyName
    private let isFinal: Bool
    private let owner: String
    /// The expression for the key that accessors pass to the runtime.
    private let key: String

    init?(_ declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext) {
      guard let declaration = declaration.as(VariableDeclSyntax.self), declaration.misuse == nil,
        let binding = declaration.bindings.first, let name = binding.pattern.names.first
      else { return nil }
      self.declaration = declaration
      self.binding = binding
      self.name = name
      let owner = context.lexicalContext.first?.as(ClassDeclSyntax.self)
      isFinal = declaration.modifiers.has(.final) || owner?.modifiers.has(.final) ?? false
      self.owner = owner?.name.text ?? "Self"
      // A subclass may declare a property of the same name, and then this one has another key in its instances.
      let isHidden = owner.map { declaration.isHidden(fromSubclassesOf: $0) } ?? false
      key =
        isHidden
        ? "KeyValueObserving.KeyValueObservationHeader.__key(\(name.key), of: self, in: \(self.owner).self)" : name.key
    }

    /// The stored property: the user's declaration without the parts that belong to the accessors.
    var storage: DeclSyntax {
      let modifiers = declaration.modifiers.filter { modifier in
        let kept: [Keyword] = [.weak, .unowned, .nonisolated]
        return kept.contains { modifier.name.tokenKind == .keyword($0) }
      }
      // Dynamic exclusivity checks cost calls on each access. A collection keeps them, as in a class without the macro: mutating it
      // can run other code, such as the deinitializer of an element, which must not access it in the middle of the change. `@safe`
      // holds as it does for a public property of another module: two threads that set it at the same time need a lock.
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
        declaration.modifiers.has(.weak)
        ? """
        get {
          guard _$kvo.isTracking else {
            return \(raw: stored)
          }
          return _$kvo.trackedWeak(self, \(raw: key), { self.\(raw: member) })
        }
        """
        : """
        get {
          if _$kvo.isTracking {
            KeyValueObserving.KeyValueObservationHeader.recordRead(self, \(raw: key))
          }
          return \(raw: stored)
        }
        """
      // A weak or unowned reference has no address that could be yielded, and with `willSet` or `didSet` the observers must run
      // after every kind of change.
      let isPlain = willSet == nil && didSet == nil && !declaration.modifiers.has(.weak, .unowned)
      guard isPlain else { return [initializer, getter, observedSetter] }
      return [initializer, getter, isCollection ? plainSetter : directSetter, modifier]
    }

    private var stored: String { name.storage.declared }
    private var member: String { name.storage.member }
    private var willSet: AccessorDeclSyntax? { binding.accessorBlock?.observer(.willSet) }
    private var didSet: AccessorDeclSyntax? { binding.accessorBlock?.observer(.didSet) }

    /// The expression for the value that observers see: the getter if a subclass may override it.
    private var value: String { "self." + (isFinal ? name.storage.member : name.member) }

    /// The store. The old elements of a collection are released after the access: their deinitializers may run observers that read
    /// the collection.
    private func store(_ value: String = "newValue", in storage: String) -> String {
      guard isCollection else { return "\(storage) = \(value)" }
      return "let __kvoOld = \(storage)\n\(storage) = \(value)\nSwift.withExtendedLifetime(__kvoOld) {\n}"
    }

    /// Whether the source shows that the type is an array, a dictionary or a set.
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
          \(raw: store(in: stored))
          _$kvo.stored(\(raw: key), { \(raw: value) })
          return
        }
        _$kvo.change(\(raw: key), { \(raw: value) }, { \(raw: store(in: "self." + member)) })
      }
      """
    }

    /// The setter of a property whose storage the runtime may read. That of a subclass may have another getter.
    private var directSetter: AccessorDeclSyntax {
      let change =
        "_$kvo.change(\(key), newValue, { $0(&self.\(member)) }, { self.\(member) }, { self.\(member) = newValue })"
      let ofSubclass = """
        guard Swift.type(of: self) == \(owner).self else {
            _$kvo.change(\(key), { \(value) }, { self.\(member) = newValue })
            return
          }
          
        """
      return """
        set {
          guard _$kvo.isObserved else {
            \(raw: stored) = newValue
            _$kvo.stored(\(raw: key), { \(raw: value) })
            return
          }
          \(raw: isFinal ? change : ofSubclass + change)
        }
        """
    }

    /// With one `yield`, so that it is inlined.
    private var modifier: AccessorDeclSyntax {
      """
      _modify {
        let __kvoChange = _$kvo.isObserved ? _$kvo.beginChange(\(raw: key), { \(raw: value) }) : nil
        defer {
          __kvoChange?.finish({ \(raw: value) })
        }
        yield &\(raw: stored)
      }
      """
    }

    /// The setter of a property that has `willSet` or `didSet`, or is weak or unowned.
    private var observedSetter: AccessorDeclSyntax {
      guard willSet != nil || didSet != nil else { return plainSetter }
      var body: [String] = []
      if let willSet {
        body += call(of: willSet, "__kvoWillSet", parameter: "newValue", value: "__kvoNewValue")
      }
      // Swift reads the old value only if the body of `didSet` mentions it.
      if let didSet, didSet.mentions(didSet.parameterName ?? PropertyName(plain: "oldValue")) {
        body.append("let __kvoOldValue\(typeAnnotation) = \(stored)")
      }
      body.append(store("__kvoNewValue", in: stored))
      if let didSet {
        body += call(of: didSet, "__kvoDidSet", parameter: "oldValue", value: "__kvoOldValue")
      }
      // A local function for both branches, so that the user's bodies are generated only once.
      return
        """
        set(__kvoNewValue) {
          func __kvoStore() {
            \(raw: body.joined(separator: "\n    "))
          }
          guard _$kvo.isObserved else {
            __kvoStore()
            _$kvo.stored(\(raw: key))
            return
          }
          _$kvo.change(\(raw: key), { \(raw: value) }, __kvoStore)
        }
        """
    }

    /// Puts the user's body into a separate function, so that a `return` in it leaves only that function.
    private func call(
      of observer: AccessorDeclSyntax, _ function: String, parameter: String, value: String
    ) -> [String] {
      let parameter = observer.parameterName ?? PropertyName(plain: parameter)
      let isMentioned = observer.mentions(parameter)
      let binding = isMentioned ? ["  let \(parameter.declared)\(typeAnnotation) = \(value)"] : []
      let body =
        observer.body.map {
          StorageRewriter.rewrite($0.statements, property: self.name, isShadowed: parameter == self.name)
        } ?? []
      return ["do {"] + binding + ["  func \(function)() {"] + body.lines.map { "    " + $0 } + [
        "  }", "  \(function)()", "}",
      ]
    }

    /// The type annotation with its colon. It keeps an implicitly unwrapped optional as written.
    private var typeAnnotation: String {
      binding.typeAnnotation.map { ": " + $0.type.trimmedDescription } ?? ""
    }
  }

  extension CodeBlockItemListSyntax {
    /// The source lines, with the indentation of the least indented line removed. Empty lines stay, because they may be part of a
    /// string.
    fileprivate var lines: [String] {
      var lines = description.split(separator: "\n", omittingEmptySubsequences: false)[...]
      while lines.first?.allSatisfy(\.isWhitespace) ?? false { lines.removeFirst() }
      while lines.last?.allSatisfy(\.isWhitespace) ?? false { lines.removeLast() }
      let margins = lines.filter { !$0.allSatisfy(\.isWhitespace) }.map { $0.prefix { $0 == " " }.count }
      return lines.map { String($0.dropFirst(Swift.min(margins.min() ?? 0, $0.prefix { $0 == " " }.count))) }
    }
  }
#endif
