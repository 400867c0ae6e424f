// What a scenario did wrong; the runner prints it after a question mark and goes on.
/// A mistake in a scenario, or something that this implementation does not have.
struct ScriptError: Error {
  let text: String

  init(_ text: String) { self.text = text }
}
