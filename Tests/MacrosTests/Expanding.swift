// Expansion of source code in tests, without a compiler.
#if Macros
  import KeyValueObservingMacros
  import SwiftParser
  import SwiftSyntax
  import SwiftSyntaxMacroExpansion
  import SwiftSyntaxMacrosGenericTestSupport
  import Testing

  /// The macros for a class that has no conformances.
  let macros = specifications()

  /// - Parameter conforming: The protocols that the class already conforms to.
  func specifications(conforming: Set<String> = []) -> [String: MacroSpec] {
    let protocols = ["KeyValueObservable", "_KeyValueObservableClass", "_KeyValueOperation", "Encodable", "Decodable"]
    let missing: [TypeSyntax] = protocols.filter { !conforming.contains($0) }.map { "\(raw: $0)" }
    return [
      "KeyValueObservable": MacroSpec(type: KeyValueObservableMacro.self, conformances: missing),
      "_KeyValueObserved": MacroSpec(type: KeyValueObservedMacro.self),
      "NotObserved": MacroSpec(type: NotObservedMacro.self),
    ]
  }

  /// Returns the expansion of `source`, ignoring diagnostics.
  func expansion(of source: String, conforming: Set<String> = []) -> String {
    let file = Parser.parse(source: source)
    let context = BasicMacroExpansionContext(
      sourceFiles: [file: .init(moduleName: "TestModule", fullFilePath: "test.swift")])
    let expanded = file.expand(
      macroSpecs: specifications(conforming: conforming),
      contextGenerator: {
        BasicMacroExpansionContext(sharingWith: context, lexicalContext: $0.allMacroLexicalContexts())
      },
      indentationWidth: .spaces(2))
    return expanded.description
  }

  func expectExpansion(
    of source: String, is expected: String, conforming: Set<String> = [],
    at location: Testing.SourceLocation = #_sourceLocation
  ) {
    assertMacroExpansion(
      source, expandedSource: expected, macroSpecs: specifications(conforming: conforming),
      indentationWidth: .spaces(2),
      failureHandler: { Issue.record("\($0.message)", sourceLocation: location) })
  }
#endif
