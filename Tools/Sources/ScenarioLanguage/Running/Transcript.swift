// Where answers go.
/// The lines that a run prints.
final class Transcript {
  private let write: (String) -> Void
  /// While objects are forgotten, their end is no answer to anything.
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
