// The program's entry. All else is in KVOTool: tests cannot import a program whose package has macros.
#if Macros
  import KVOTool

  @main
  enum Main {
    static func main() { KVOTool.main() }
  }
#else
  // Without the trait the target still has to be a program.
  @main
  enum Main {
    static func main() {
      print("kvo was built without the trait Macros, which its model needs; build it with the default traits.")
    }
  }
#endif
