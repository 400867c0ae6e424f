// A string key path as the C walk reads it.

/// A key path of components separated by dots, or one key, which may contain dots.
enum CodedPath {
  case path(String)
  case key(String)

  /// Returns the path without its last component, which is `nil` for a path of one, and that component.
  static func splitting(_ path: String) -> (head: CodedPath?, last: String) {
    guard let dot = path.lastIndex(of: ".") else { return (nil, path) }
    return (.path(String(path[..<dot])), String(path[path.index(after: dot)...]))
  }

  /// The first component.
  var first: String {
    switch self {
    case .path(let path): String(path.prefix { $0 != "." })
    case .key(let key): key
    }
  }

  /// Returns whether a key is one of the components.
  func contains(_ key: String) -> Bool {
    switch self {
    case .path(let path): components(ofCodedPath: path).contains(key)
    case .key(let own): own == key
    }
  }

  /// Bytes that no UTF-8 text contains, in place of those that would mean something else to the C walk.
  private static let substitutes: [(byte: UInt8, substitute: UInt8)] = [
    (0, 0xFF), (UInt8(ascii: "."), 0xFE), (UInt8(ascii: "@"), 0xFD),
  ]

  /// Calls `body` with the path as a C string, and with whether its components have to be unescaped.
  func withCString<Result>(_ body: (UnsafePointer<CChar>, _ isEscaped: Bool) -> Result) -> Result {
    let (text, keepsDots) =
      switch self {
      case .path(let path): (path, true)
      case .key(let key): (key, !key.utf8.contains(UInt8(ascii: ".")))
      }
    if keepsDots, !Self.needsEscapes(text) { return text.withCString { body($0, false) } }
    return Self.escaped(text, keepsDots: keepsDots).withUnsafeBufferPointer { body($0.baseAddress!, true) }
  }

  /// Returns whether a text contains a zero, or a dot or an "@" that is only part of a character.
  private static func needsEscapes(_ text: String) -> Bool {
    var isSpecial = false
    for byte in text.utf8 {
      if byte == 0 || (isSpecial && byte >= 0x80) { return true }
      isSpecial = byte == UInt8(ascii: ".") || byte == UInt8(ascii: "@")
    }
    return false
  }

  private static func escaped(_ text: String, keepsDots: Bool) -> [CChar] {
    var bytes: [CChar] = []
    for character in text {
      let isKept = character == "@" || (keepsDots && character == ".")
      for byte in character.utf8 {
        let substitute = substitutes.first { $0.byte == byte }?.substitute
        bytes.append(CChar(bitPattern: isKept ? byte : substitute ?? byte))
      }
    }
    return bytes + [0]
  }

  /// Returns the text of a part of the C string.
  static func text(_ bytes: UnsafePointer<CChar>, _ length: Int, isEscaped: Bool) -> String {
    let bytes = UnsafeRawBufferPointer(start: bytes, count: length)
    guard isEscaped else { return String(decoding: bytes, as: UTF8.self) }
    let unescaped = bytes.map { byte in substitutes.first { $0.substitute == byte }?.byte ?? byte }
    return String(decoding: unescaped, as: UTF8.self)
  }
}
