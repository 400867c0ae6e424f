// The program's entry. All else is in KVOTool: tests cannot import a program whose package has macros.
import KVOTool

@main
enum Main {
  static func main() { KVOTool.main() }
}
