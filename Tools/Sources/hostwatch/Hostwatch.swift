// The entry point. The rest is in HostModel, because tests cannot import an executable whose package has macros.
import HostModel

@main
enum Main {
  static func main() { Hostwatch.main() }
}
