// Errors in scenarios. The runner prints them after a question mark and continues.
/// A mistake in a scenario, or a feature that this implementation does not have.
struct ScriptError: Error {
  let text: String

  init(_ text: String) { self.text = text }
}
