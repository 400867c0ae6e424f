// The program's entry. All else is in HostModel: tests cannot import a program whose package has macros.
import HostModel

@main
enum Main {
  static func main() { Hostwatch.main() }
}
