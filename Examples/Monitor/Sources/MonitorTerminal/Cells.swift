// Texts in cells of the terminal: most characters take one, East Asian ones and emoji two, combining marks none.
import CCurses

func cellCount(_ text: some StringProtocol) -> Int {
  text.unicodeScalars.reduce(0) { $0 + max(0, Int(wcwidth(wchar_t($1.value)))) }
}

/// Returns a text that takes exactly a number of cells: it is cut, or filled with spaces.
func fitting(_ text: String, _ width: Int) -> String {
  var fitted = ""
  var cells = 0
  for character in text {
    let size = cellCount(String(character))
    guard cells + size <= width else { break }
    fitted.append(character)
    cells += size
  }
  return fitted + String(repeating: " ", count: max(0, width - cells))
}
