// The entry point. The rest is in HostReport, because tests cannot import an executable whose package has macros.
import HostReport

@main
enum Main {
  static func main() { Hostwatch.main() }
}
