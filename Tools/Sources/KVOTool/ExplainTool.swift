// kvo explain: prints the documentation page of a fault, or finds the pages about something.
import ArgumentParser

package struct ExplainTool: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Explains faults: what happened, why it is a fault, an example, the remedy.",
    discussion: "The pages are those of Documentation/Faults.")

  @Argument(
    help: ArgumentHelp(
      "Codes, such as KVO0003, kvo3 or 3, the quoted first line of a report, or words to look for, such as leak.",
      valueName: "code"))
  var codes: [String] = []

  @Flag(help: "List all pages.")
  var list = false

  package init() {}

  package func validate() throws {
    if codes.isEmpty, !list {
      throw ValidationError("Say which fault, such as KVO0003, or a word, such as leak, or --list for all.")
    }
    for code in codes { _ = try Self.page(of: code) }
  }

  package func run() throws { print(try output(), terminator: "") }

  package func output() throws -> String {
    let titles = list ? FaultPages.all.map { Self.title(of: $0.text) + "\n" }.joined() : ""
    let pages = try codes.map { try Self.page(of: $0) }
    return ([titles] + pages).filter { !$0.isEmpty }.joined(separator: "\n")
  }

  private static func title(of page: String) -> Substring { page.prefix { $0 != "\n" }.dropFirst(2) }

  /// Returns the page for a code that the user has typed, or the pages with the words that the user has typed.
  private static func page(of code: String) throws -> String {
    let words = code.lowercased().split { !$0.isLetter }
    let isSearch = !words.isEmpty && !code.contains(where: \.isNumber) && words != ["kvo"]
    return try isSearch ? found(words, typed: code) : page(ofCode: code)
  }

  /// Returns the page that has all words, or a line for each page that has them, those with a word in the title first, then those that have
  /// them most often.
  private static func found(_ words: [Substring], typed: String) throws -> String {
    var hits: [(text: String, weight: Int)] = []
    for page in FaultPages.all {
      let text = page.text.lowercased()
      let counts = words.map { text.ranges(of: $0).count }
      if counts.contains(0) { continue }
      let title = title(of: text)
      let inTitle = words.filter { title.contains($0) }.count
      hits.append((page.text, 1000 * inTitle + counts.reduce(0, +)))
    }
    hits.sort { $0.weight > $1.weight }
    guard let first = hits.first else {
      throw ValidationError("No page has '\(typed)'. 'kvo explain --list' lists all.")
    }
    return hits.count == 1 ? first.text : hits.map { title(of: $0.text) + "\n" }.joined()
  }

  private static func page(ofCode code: String) throws -> String {
    let upper = (code.firstMatch(of: #/\bKVO[0-9]+\b/#.ignoresCase())?.output).map(String.init) ?? code.uppercased()
    let digits = upper.uppercased().hasPrefix("KVO") ? upper.dropFirst(3) : upper[...]
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let number = Int(digits)
    else {
      throw ValidationError("'\(code)' is no code; a code is KVO and a number. 'kvo explain --list' lists all.")
    }
    if let page = FaultPages.all.first(where: { $0.number == number }) { return page.text }
    let nearest = FaultPages.all.sorted { abs($0.number - number) < abs($1.number - number) }.prefix(3)
      .sorted { $0.number < $1.number }
    throw ValidationError(
      "There is no \(FaultKind.code(number)). The nearest are:\n"
        + nearest.map { "  " + title(of: $0.text) }.joined(separator: "\n"))
  }
}
