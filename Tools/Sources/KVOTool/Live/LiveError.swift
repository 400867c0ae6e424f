// What can prevent looking at a running program, in words for a person.

package struct LiveError: Error, CustomStringConvertible, Equatable {
  /// For programs: the code that the running program gave, or one of the tool's own.
  package let code: String
  package let description: String

  init(_ code: String, _ description: String) {
    self.code = code
    self.description = description.split(separator: "\n").map { Columns.clean(String($0)) }.joined(separator: "\n")
  }
}
