// Temporary C strings.

/// Copies of strings for C that are freed together.
final class TemporaryStrings {
  private var strings: [UnsafeMutablePointer<CChar>] = []
  private var lists: [UnsafeMutablePointer<UnsafePointer<CChar>?>] = []

  func copy(_ string: String) -> UnsafePointer<CChar> {
    let copied = string.withCString { source in
      let count = string.utf8.count + 1
      let copied = UnsafeMutablePointer<CChar>.allocate(capacity: count)
      copied.initialize(from: source, count: count)
      return copied
    }
    strings.append(copied)
    return UnsafePointer(copied)
  }

  /// Returns an array of C strings that ends with a null pointer.
  func copy(_ list: [String]) -> UnsafePointer<UnsafePointer<CChar>?> {
    let copied = UnsafeMutablePointer<UnsafePointer<CChar>?>.allocate(capacity: list.count + 1)
    for (index, string) in list.enumerated() { (copied + index).initialize(to: copy(string)) }
    (copied + list.count).initialize(to: nil)
    lists.append(copied)
    return UnsafePointer(copied)
  }

  func free() {
    for string in strings { string.deallocate() }
    for list in lists { list.deallocate() }
  }
}
