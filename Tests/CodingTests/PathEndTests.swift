// The key at the end of an observed path: announced manually, computed, overridden, or answered by the class.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  private final class Meter {
    @NotObserved private var stored = 0
    /// Announced manually; its accessors use no observable property.
    var value: Int {
      get { stored }
      set {
        willChangeValue(for: \.value)
        stored = newValue
        didChangeValue(for: \.value)
      }
    }
  }

  @KeyValueObservable
  private final class Station {
    var meter = Meter()
  }

  @KeyValueObservable
  private final class Basket {
    var fruits = ["fig"]
    var shown: [String] { fruits }
  }

  @KeyValueObservable
  private final class Kitchen {
    var basket = Basket()
  }

  @KeyValueObservable
  private class Row {
    var items = [1]
  }

  private final class OverridingRow: Row {
    override var items: [Int] {
      get { super.items }
      set { super.items = newValue }
    }
  }

  /// Answers a key without reading its property.
  @KeyValueObservable
  private final class Loudspeaker {
    var volume = 1
    func value(forKey key: String) -> Any? { key == "volume" ? 11 : codedValue(forKey: key) }
  }

  @Suite("The key at the end of an observed path")
  struct PathEndTests {
    @Test func `A manual announcement at the end of a path of two keys notifies`() {
      let station = Station()
      nonisolated(unsafe) var lines: [String] = []
      let token = station.observe(\.meter.value, options: [.old, .new]) { _, change in
        lines.append("\(change.oldValue ?? -1)>\(change.newValue ?? -1)")
      }
      station.meter.value = 1
      station.meter = Meter()
      token.invalidate()
      #expect(lines == ["0>1", "1>0"])
    }

    @Test func `Announced elements of a computed property are delivered although its getter reads another key`() {
      let kitchen = Kitchen()
      let changes = kitchen.changes(of: "basket.shown") {
        kitchen.basket.willChange(.insertion, valuesAt: [0], forKey: "shown")
        kitchen.basket.didChange(.insertion, valuesAt: [0], forKey: "shown")
      }
      #expect(changes == [#"basket.shown ->["fig"]"#])
    }

    @Test func `A key path of a subclass that overrides a property names that property`() {
      let row = OverridingRow()
      nonisolated(unsafe) var lines: [String] = []
      let token = row.observe(\.items, options: [.new]) { _, change in
        lines.append("\(change.kind == .insertion) \(change.indexes.map { Array($0) } ?? []) \(change.newValue ?? [])")
      }
      row.willChange(.insertion, valuesAt: [0], forKey: "items")
      row.didChange(.insertion, valuesAt: [0], forKey: "items")
      token.invalidate()
      #expect(lines == ["true [0] [1]"])
    }

    @Test func `A key that the class answers without reading it notifies when its property changes`() {
      let speaker = Loudspeaker()
      #expect(speaker.changes(of: "volume") { speaker.volume = 2 } == ["volume 11>11"])
    }
  }
#endif
