// Misuse: sources with their only diagnostic, and the result of the fix-it.
#if Macros
  import SwiftParser
  import SwiftSyntax
  import SwiftSyntaxMacroExpansion
  import SwiftSyntaxMacrosGenericTestSupport
  import Testing

  struct Misuse: Sendable, CustomTestStringConvertible {
    let source: String
    let message: String
    let fixIt: String
    let fixed: String
    var isWarning = false
    var otherFixIts: [String] = []

    /// Creates a case for a member of an observable class.
    static func member(
      _ member: String, _ message: String, _ fixIt: String, _ fixed: String, warning: Bool = false,
      others: [String] = []
    ) -> Misuse {
      func wrap(_ member: String) -> String { "@KeyValueObservable final class A {\n  \(member)\n}" }
      return Misuse(
        source: wrap(member), message: message, fixIt: fixIt, fixed: wrap(fixed), isWarning: warning,
        otherFixIts: others)
    }

    /// Creates a case for what is no class.
    static func notAClass(
      _ it: String, _ what: String, _ fixIt: String = "remove '@KeyValueObservable'", _ fixed: String? = nil
    ) -> Misuse {
      Misuse(
        source: "@KeyValueObservable " + it,
        message: "'@KeyValueObservable' can only be applied to a class, not to \(what)",
        fixIt: fixIt, fixed: fixed.map { "@KeyValueObservable " + $0 } ?? it)
    }

    var testDescription: String { source }
  }

  private let misuses: [Misuse] = [
    .notAClass(
      "struct Point { var x = 1 }", "struct 'Point'", "replace 'struct' with 'class'", "class Point { var x = 1 }"),
    .notAClass("public actor Bank {}", "actor 'Bank'", "replace 'actor' with 'class'", "public class Bank {}"),
    .notAClass("enum Side { case left }", "enum 'Side'"),
    .notAClass("protocol Model {}", "protocol 'Model'"),
    .notAClass("extension A.B {}", "extension of 'A.B'"),
    .member(
      "var a = 1, b: Int = 2",
      "'a' and 'b' cannot be observed when one 'var' declares them together; give each a 'var' of its own",
      "declare each on a line of its own", "var a = 1\n  var b: Int = 2"),
    .member(
      "public var a, b, c: Int",
      "'a', 'b' and 'c' cannot be observed when one 'var' declares them together; give each a 'var' of its own",
      "declare each on a line of its own", "public var a: Int\n  public var b: Int\n  public var c: Int"),
    .member(
      "var (a, b) = (1, 2)",
      "'a' and 'b' cannot be observed when a tuple pattern declares them; give each a 'var' of its own",
      "declare each on a line of its own", "var a = 1\n  var b = 2"),
    .member(
      "var (a, b) = pair()",
      "'a' and 'b' cannot be observed when a tuple pattern declares them; give each a 'var' of its own",
      "insert '@NotObserved'", "@NotObserved var (a, b) = pair()"),
    .member(
      "lazy var a = 1",
      "'lazy' property 'a' cannot be observed, for its first value comes from a read; "
        + "mark it '@NotObserved', or give it its value in the initializer",
      "insert '@NotObserved'", "@NotObserved lazy var a = 1"),
    .member(
      "@Clamped(0...1) var a = 1",
      "property 'a' cannot be observed and have the attribute '@Clamped' as well; "
        + "mark it '@NotObserved', or remove '@Clamped'",
      "insert '@NotObserved'", "@NotObserved @Clamped(0...1) var a = 1", others: ["remove '@Clamped'"]),
    .member(
      "var a: some Equatable = 1",
      "property 'a' of the opaque type 'some Equatable' cannot be observed; name its type, or mark it '@NotObserved'",
      "insert '@NotObserved'", "@NotObserved var a: some Equatable = 1"),
    .member(
      "var a = 1; let _a = 2",
      "property 'a' cannot be observed, for its storage would be '_a', which is declared already; "
        + "rename that, or mark 'a' '@NotObserved'",
      "insert '@NotObserved'", "@NotObserved var a = 1; let _a = 2"),
    Misuse(
      source: "@KeyValueObservable @Observable class A { var a = 1 }",
      message:
        "class 'A' cannot be both '@KeyValueObservable' and '@Observable', for both replace the accessors of its "
        + "properties; remove one of them",
      fixIt: "remove '@Observable'", fixed: "@KeyValueObservable class A { var a = 1 }",
      otherFixIts: ["remove '@KeyValueObservable'"]),
    Misuse(
      source: "@KeyValueObservable class A<each T> { var a: (repeat each T) }",
      message:
        "'@KeyValueObservable' cannot be applied to class 'A', for Swift has no key paths to properties of a class "
        + "with the parameter pack 'each T'",
      fixIt: "remove '@KeyValueObservable'", fixed: "class A<each T> { var a: (repeat each T) }"),
    Misuse(
      source: "func f() { @KeyValueObservable class A { var a = 1 } }",
      message: "'@KeyValueObservable' cannot be applied to class 'A', which is declared in a function; "
        + "move the class out of it",
      fixIt: "remove '@KeyValueObservable'", fixed: "func f() { class A { var a = 1 } }"),
    .member(
      "@NotObserved var a: Int { 1 }",
      "'@NotObserved' has no effect on the computed property 'a', which is found by what it reads",
      "remove '@NotObserved'", "var a: Int { 1 }", warning: true),
    .member(
      "@NotObserved static var a = 1", "'@NotObserved' has no effect on the type property 'a', which is never observed",
      "remove '@NotObserved'", "static var a = 1", warning: true),
    Misuse(
      source: "class A { @NotObserved var a = 1 }",
      message: "'@NotObserved' has no effect on 'a', for class 'A' is not marked '@KeyValueObservable'",
      fixIt: "remove '@NotObserved'", fixed: "class A { var a = 1 }", isWarning: true),
    Misuse(
      source: "struct A { @NotObserved var a = 1 }",
      message: "'@NotObserved' has no effect on 'a', which is not a property of a class",
      fixIt: "remove '@NotObserved'", fixed: "struct A { var a = 1 }", isWarning: true),
    .member(
      "@_KeyValueObserved let a = 1",
      "'@_KeyValueObserved' can only be applied to a stored instance 'var' of a class, not to the constant 'a'",
      "replace 'let' with 'var'", "@_KeyValueObserved var a = 1"),
    .member(
      "@_KeyValueObserved var a: Int { 1 }",
      "'@_KeyValueObserved' can only be applied to a stored instance 'var' of a class, "
        + "not to the computed property 'a'",
      "remove '@_KeyValueObserved'", "var a: Int { 1 }"),
    .member(
      "@_KeyValueObserved static var a = 1",
      "'@_KeyValueObserved' can only be applied to a stored instance 'var' of a class, not to the type property 'a'",
      "remove '@_KeyValueObserved'", "static var a = 1"),
    Misuse(
      source: "struct A { @_KeyValueObserved var a = 1 }",
      message: "'@_KeyValueObserved' can only be applied to a stored instance 'var' of a class, "
        + "not to 'a', which is not a property of a class",
      fixIt: "remove '@_KeyValueObserved'", fixed: "struct A { var a = 1 }"),
    Misuse(
      source: "class A { @_KeyValueObserved var a = 1 }",
      message: "'@_KeyValueObserved' needs class 'A' to be observable; "
        + "mark the class '@KeyValueObservable', which observes every stored 'var'",
      fixIt: "remove '@_KeyValueObserved'", fixed: "class A { var a = 1 }"),
  ]

  private let correct = [
    "static var a = 1", "class var a: Int { 1 }", "var a: Int { 1 }", "let (a, b) = (1, 2)", "let a = 1, b = 2",
    "@NotObserved let a = 1", "@NotObserved lazy var a = 1", "@NotObserved @Clamped var a = 1", "@MainActor var a = 1",
    "@available(*, deprecated) var a = 1", "override var a: Int { didSet {} }", "weak var a: A?",
  ]

  @Suite struct `Diagnostics of misuse` {
    @Test(arguments: misuses) func `Each misuse has one message, and the fix-it repairs it`(misuse: Misuse) {
      let lines = misuse.source.split(separator: "\n")
      // The diagnostic is at the start of the attribute or declaration: in these sources at the last `@` or `{`.
      let line = lines.count > 1 ? 2 : 1
      let inline = misuse.source.hasPrefix("@") ? 1 : misuse.source.prefix { $0 != "@" }.count + 1
      assertMacroExpansion(
        misuse.source, expandedSource: expansion(of: misuse.source),
        diagnostics: [
          DiagnosticSpec(
            message: misuse.message, line: line, column: lines.count > 1 ? 3 : inline,
            severity: misuse.isWarning ? .warning : .error,
            fixIts: ([misuse.fixIt] + misuse.otherFixIts).map { FixItSpec(message: $0) })
        ],
        macroSpecs: macros, applyFixIts: [misuse.fixIt], fixedSource: misuse.fixed, indentationWidth: .spaces(2),
        failureHandler: { Issue.record("\($0.message)") })
    }

    @Test(arguments: correct) func `Properties that are harmlessly not observed have no message`(member: String) {
      let source = "@KeyValueObservable class A: B {\n  \(member)\n}"
      assertMacroExpansion(
        source, expandedSource: expansion(of: source), macroSpecs: macros, indentationWidth: .spaces(2),
        failureHandler: { Issue.record("\($0.message)") })
    }

    @Test func `A misused property expands to nothing`() {
      for source in ["@KeyValueObservable struct A { var a = 1 }", "struct A { @_KeyValueObserved var a = 1 }"] {
        #expect(expansion(of: source).filter { !$0.isWhitespace } == "structA{vara=1}")
      }
      #expect(!expansion(of: "@KeyValueObservable class A { lazy var a = 1 }").contains("var _a"))
    }
  }
#endif
