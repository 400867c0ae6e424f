// The entry point. The rest is in KVOTool, because tests cannot import an executable whose package has macros.
import KVOTool

@main
enum Main {
  static func main() { KVOTool.main() }
}
