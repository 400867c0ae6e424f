// The plug-in's entry point: the macros that the compiler can ask for.
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
  // Without the trait, SwiftPM still builds this target as a program, which then needs an entry point of its own.
  @main
  enum KeyValueObservingPlugin {
    static func main() {}
  }
#endif
