// The plug-in's entry point: the list of its macros.
#if Macros
  import SwiftCompilerPlugin
  import SwiftSyntaxMacros

  @main
  struct KeyValueObservingPlugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
      KeyValueObservableMacro.self,
      KeyValueObservedMacro.self,
      NotObservedMacro.self,
    ]
  }
#else
  // Without the trait, SwiftPM still builds this target as an executable, which needs an entry point.
  @main
  enum KeyValueObservingPlugin {
    static func main() {}
  }
#endif
