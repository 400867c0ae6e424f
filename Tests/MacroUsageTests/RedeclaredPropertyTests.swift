// Properties that a subclass may not see, and declares again with the same name: two properties with two keys.
#if Macros
  import Foundation
  import KeyValueObserving
  import Synchronization
  import Testing

  @KeyValueObservable
  open class Control<Element> {
    private var items: [Element] = []
    private weak var peer: Peer?
    private var count: Int { items.count }
    private var title = "base" { didSet { titlesSet += 1 } }
    private let id = 1
    var titlesSet = 0

    init() {}
    func add(_ element: Element) { items.append(element) }
    func rename(_ title: String) { self.title = title }
    func meet(_ peer: Peer?) { self.peer = peer }
    func announceTitle() {
      willChangeValue(for: \.title)
      didChangeValue(for: \.title)
    }

    func observeAll(_ log: Log) -> [NSKeyValueObservation] {
      [
        observe(\.items, options: [.old, .new]) { log.add("base items", $1.oldValue?.count, $1.newValue?.count) },
        observe(\.count, options: [.old, .new]) { log.add("base count", $1.oldValue, $1.newValue) },
        observe(\.title, options: [.old, .new]) { log.add("base title", $1.oldValue, $1.newValue) },
        observe(\.peer?.age, options: [.old, .new]) { log.add("base age", $1.oldValue ?? nil, $1.newValue ?? nil) },
      ]
    }
  }

  @KeyValueObservable final class Peer { var age = 1 }

  @KeyValueObservable
  class TextControl: Control<Int> {
    private var items = "text"
    private var count = 0.5
    private var title = [1]
    private var peer = Peer()
    private let id = "text"

    func edit() {
      items = "edited"
      count += 1
      title.append(2)
      peer.age += 1
    }

    func observeText(_ log: Log) -> [NSKeyValueObservation] {
      [
        observe(\.items, options: [.old, .new]) { log.add("items", $1.oldValue, $1.newValue) },
        observe(\.count, options: [.old, .new]) { log.add("count", $1.oldValue, $1.newValue) },
        observe(\.title, options: [.old, .new]) { log.add("title", $1.oldValue, $1.newValue) },
        observe(\.peer.age, options: [.old, .new]) { log.add("age", $1.oldValue, $1.newValue) },
      ]
    }
  }

  @KeyValueObservable
  final class SearchControl: TextControl {
    var items: Set<Int> = []
    func search() { items.insert(7) }
  }

  final class Log: Sendable {
    private let lines = Mutex<[String]>([])
    func add<Value>(_ name: String, _ old: Value?, _ new: Value?) {
      let text = { (value: Value?) in value.map { "\($0)" } ?? "-" }
      lines.withLock { $0.append("\(name) \(text(old)) \(text(new))") }
    }
    func take() -> [String] { lines.withLock { exchange(&$0) } }
    private func exchange(_ lines: inout [String]) -> [String] {
      defer { lines = [] }
      return lines
    }
  }

  struct RedeclaredPropertyTests {
    @Test func `Observers of a superclass's private property are told its changes, with its values`() {
      let (control, log) = (SearchControl(), Log())
      let tokens = control.observeAll(log) + control.observeText(log)
      defer { for token in tokens { token.invalidate() } }
      control.add(3)
      #expect(Set(log.take()) == ["base items 0 1", "base count 0 1"])
      control.rename("new")
      #expect(log.take() == ["base title base new"])
      #expect(control.titlesSet == 1)
      let peer = Peer()
      control.meet(peer)
      peer.age = 2
      #expect(log.take() == ["base age - 1", "base age 1 2"])
      control.announceTitle()
      #expect(log.take() == ["base title new new"])
    }

    @Test func `Observers of a subclass's private property of the same name are told the changes of that one only`() {
      let (control, log) = (TextControl(), Log())
      let tokens = control.observeText(log) + control.observeAll(log)
      defer { for token in tokens { token.invalidate() } }
      control.edit()
      #expect(log.take() == ["items text edited", "count 0.5 1.5", "title [1] [1, 2]", "age 1 2"])
    }

    @Test func `Instances of the superclass have the property under its name`() {
      let (control, log) = (Control<Int>(), Log())
      let tokens = control.observeAll(log)
      defer { for token in tokens { token.invalidate() } }
      control.add(1)
      #expect(Set(log.take()) == ["base items 0 1", "base count 0 1"])
      #expect(control.value(forKey: "title") as? String == "base")
    }

    @Test func `A string key names the most derived property, and the others have the class in their keys`() {
      let (control, log) = (SearchControl(), Log())
      let tokens = control.observeAll(log) + control.observeText(log)
      let own = control.observe(\.items, options: .new) { log.add("own", nil, $1.newValue?.count) }
      defer { for token in tokens + [own] { token.invalidate() } }
      control.search()
      #expect(log.take() == ["own - 1"])
      #expect(control.value(forKey: "items") as? Set<Int> == [7])
      #expect(control.value(forKey: "items (TextControl)") as? String == "text")
      #expect(control.value(forKey: "items (Control<Int>)") as? [Int] == [])
      control.setValue("told", forKey: "items (TextControl)")
      #expect(log.take() == ["items text told"])
    }

    @Test func `An evaluation that is the first to read an object finds the superclass's property`() {
      let (control, log) = (FreshControl(), Log())
      let holder = ControlHolder(control)
      let token = holder.observe(\.control.total, options: [.old, .new]) { log.add("total", $1.oldValue, $1.newValue) }
      defer { token.invalidate() }
      control.set(4)
      #expect(log.take() == ["total 0 4"])
      control.hide("x")
      #expect(log.take() == [])
    }
  }

  @KeyValueObservable class Counted {
    private var sum = 0
    var total: Int { sum }
    func set(_ sum: Int) { self.sum = sum }
  }

  @KeyValueObservable final class FreshControl: Counted {
    private var sum = ""
    func hide(_ sum: String) { self.sum = sum }
  }

  @KeyValueObservable final class ControlHolder {
    var control: FreshControl
    init(_ control: FreshControl) { self.control = control }
  }
#endif
