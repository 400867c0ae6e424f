// Key paths that the program leads to an object while a property of that object is being changed.
#if Macros
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  private final class Tab {
    @NotObserved var text = "old"
    @NotObserved weak var window: Window?
    /// Announced by hand.
    var label: String {
      get { text }
      set {
        willChangeValue(for: \.label)
        window?.selected = self
        text = newValue
        didChangeValue(for: \.label)
      }
    }
    var title = "old" { willSet { window?.selected = self } }
    var count = 1 { willSet { window?.selected = self } }
  }

  @KeyValueObservable
  private final class Window {
    var selected: Tab?
    var caption = ""
  }

  @Suite("A key path that is led to an object in the middle of a change")
  struct LedMeanwhileTests {
    private let window = Window()
    private let tab = Tab()
    private let log = Log()

    @Test func `is told the change, although nobody observed the property when it began`() {
      tab.window = window
      let tokens = [
        window.onChange(of: \.selected?.label) { [log] _, label in log.add("label \(label ?? "none")") },
        window.onChange(of: \.selected?.title) { [log] _, title in log.add("title \(title ?? "none")") },
        window.onChange(of: \.selected?.count) { [log] _, count in log.add("count \(count ?? 0)") },
      ]
      tab.label = "new"
      #expect(log.take().last == "label new")
      window.selected = nil
      _ = log.take()
      tab.title = "new"
      #expect(log.take().contains("title new"))
      window.selected = nil
      _ = log.take()
      tab.count = 7
      #expect(log.take().contains("count 7"))
      for token in tokens { token.invalidate() }
    }

    @Test func `keeps its bindings up to date`() {
      tab.window = window
      let token = window.source(\.selected?.label).map { $0 ?? "" }.bind(to: window, \.caption)
      tab.label = "new"
      #expect(window.caption == "new")
      token.invalidate()
    }
  }
#endif
