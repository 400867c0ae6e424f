// What is known of the selected process.
import KeyValueObserving
import MonitorModel

final class DetailPane: Pane {
  private let detail: ProcessDetail

  init(_ detail: ProcessDetail) {
    self.detail = detail
    super.init()
    // Every property of the object, with its key.
    detail.observeAll(for: self) { me, _, _, _ in me.setNeedsDisplay() }
  }

  override func lines() -> [Line] {
    [
      Line(detail.title, .bold).adding(detail.state.isEmpty ? "" : "  " + detail.state),
      Line("CPU ", .dim).adding(detail.cpu, .green).adding("   memory ", .dim).adding(detail.memory, .yellow),
      Line(detail.commandLine, .dim),
    ]
  }
}
