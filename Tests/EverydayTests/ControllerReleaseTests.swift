// What a controller lets go of, and when.
#if Macros
  import KeyValueObserving
  import Testing

  @Suite("A controller that retains what it observes")
  struct ControllerReleaseTests {
    let panel = Panel()

    @Test("lets go of objects whose observations have ended by themselves, before there are many")
    func forgets() {
      let controller = KeyValueObservationController(observer: panel, retainsObserved: true)
      var (living, most) = (0, 0)
      func observed() -> Held {
        living += 1
        let held = Held { living -= 1 }
        controller.observe(held, \.value) { _, _, _ in }
        return held
      }
      let kept = (0..<20).map { _ in observed() }
      for _ in 1...500 { controller.unobserve(observed()) }
      #expect(living == kept.count)
      for _ in 1...1000 {
        observed().stopObserving(for: panel)
        most = max(most, living)
      }
      #expect(most < 100)
      controller.unobserveAll()
      #expect(living == kept.count)
    }

    @Test("may be used in the deinit of an object that it lets go of")
    func usedInDeinit() {
      let controller = KeyValueObservationController(observer: panel, retainsObserved: true)
      let document = Document()
      controller.observe(document, \.title) { _, _, _ in }
      var died = 0
      for _ in 1...20 {
        let held = Held {
          died += 1
          controller.unobserve(document, \.pages)
        }
        controller.observe(held, \.value) { _, _, _ in }
        held.stopObserving(for: panel)
      }
      #expect(died > 0)
      controller.unobserveAll()
      #expect(died == 20)
    }
  }

  /// Calls a closure when it is deallocated.
  @KeyValueObservable
  private final class Held {
    var value = 0
    @NotObserved let died: () -> Void

    init(died: @escaping () -> Void) { self.died = died }

    deinit { died() }
  }
#endif
