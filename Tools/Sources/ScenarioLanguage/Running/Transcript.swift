// The output of a run.
/// Writes the lines that a run prints.
final class Transcript {
  private let write: (String) -> Void
  /// Whether output is suppressed, which it is while the objects of a finished scenario are released.
  private var isMuted = false

  init(write: @escaping (String) -> Void) { self.write = write }

  func line(_ line: String) {
    if !isMuted { write(line) }
  }

  func muted(_ body: () -> Void) {
    let outer = isMuted
    isMuted = true
    body()
    isMuted = outer
  }
}
