// A source location, for reports.

/// The source location of a call, for reports.
@usableFromInline
struct SourceLocation {
  @usableFromInline let file: StaticString
  @usableFromInline let line: UInt

  @usableFromInline
  init(file: StaticString, line: UInt) {
    self.file = file
    self.line = line
  }

  /// That of a method that can be overridden, and so has no parameters for it.
  static var unknown: SourceLocation { SourceLocation(file: "", line: 0) }

  /// The file name as a C string: a static string is null-terminated and never freed.
  var cFile: UnsafePointer<CChar>? {
    file.utf8CodeUnitCount == 0 ? nil : UnsafeRawPointer(file.utf8Start).assumingMemoryBound(to: CChar.self)
  }
  var cLine: UInt32 { UInt32(truncatingIfNeeded: line) }
}
