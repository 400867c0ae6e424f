// A line of the program, for reports.

/// Where in the source an observation is made, for reports.
@usableFromInline
struct SourceLocation {
  @usableFromInline let file: StaticString
  @usableFromInline let line: UInt

  @usableFromInline
  init(file: StaticString, line: UInt) {
    self.file = file
    self.line = line
  }

  /// As C takes it: a static string ends with a null byte and lives for ever.
  var cFile: UnsafePointer<CChar> { UnsafeRawPointer(file.utf8Start).assumingMemoryBound(to: CChar.self) }
  var cLine: UInt32 { UInt32(truncatingIfNeeded: line) }
}
