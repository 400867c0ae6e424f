// Runs the tests of a program that scripts/check-snippets.sh creates.
import Testing

@main
struct Main {
  static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
