// Properties that a subclass does not see, and declares again with the same name: two properties with two keys.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

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
        record(\.items, as: "items", to: log), record(\.count, as: "count", to: log),
        record(\.title, as: "title", to: log), record(\.peer.age, as: "age", to: log),
      ]
    }
  }

  @KeyValueObservable
  final class SearchControl: TextControl {
    var items: Set<Int> = []
    func search() { items.insert(7) }
  }

  private protocol OwnProperties: AnyObject {
    var sum: String { get set }
    var state: String { get set }
    func add()
    func advance()
  }

  @KeyValueObservable
  final class OwnSheet: Sheet, OwnProperties {
    var title = 5
    var items = ["a"]
    var sum = ""
    var state = ""
    var name = 0.5
  }

  @KeyValueObservable
  final class OwnTypedSheet: TypedSheet, OwnProperties {
    var sum = ""
    var state = ""
  }

  @KeyValueObservable
  class OwnSummary: Summary {
    var part = "a"
    var rest = "b"
    override class func keyPathsForValuesAffectingSum() -> Set<String> { ["part", "rest"] }
    override class func keyPathsForValuesAffectingMean() -> Set<String> {
      super.keyPathsForValuesAffectingMean().union(["lines"])
    }
  }

  struct HiddenPropertyTests {
    private let log = Log()

    @Test func `Observers of a superclass's private property are notified of its changes, with its values`() {
      let control = SearchControl()
      let tokens = control.observeAll(log) + control.observeText(log)
      defer { for token in tokens { token.invalidate() } }
      control.add(3)
      #expect(Set(log.take()) == ["base items [] [3]", "base count 0 1"])
      control.rename("new")
      #expect(log.take() == ["base title base new"])
      #expect(control.titlesSet == 1)
      let peer = Peer()
      control.meet(peer)
      peer.age = 2
      #expect(log.take() == ["base age nil Optional(1)", "base age Optional(1) Optional(2)"])
      control.announceTitle()
      #expect(log.take() == ["base title new new"])
    }

    @Test func `Observers of a subclass's private property of the same name are notified of that one's changes only`() {
      let control = TextControl()
      let tokens = control.observeText(log) + control.observeAll(log)
      defer { for token in tokens { token.invalidate() } }
      control.edit()
      #expect(log.take() == ["items text edited", "count 0.5 1.5", "title [1] [1, 2]", "age 1 2"])
    }

    @Test func `A string key names the most derived property, and the others have the class in their keys`() {
      let control = SearchControl()
      let tokens = control.observeAll(log) + control.observeText(log) + [control.record(\.items, as: "own", to: log)]
      defer { for token in tokens { token.invalidate() } }
      control.search()
      #expect(log.take() == ["own [] [7]"])
      #expect(control.value(forKey: "items") as? Set<Int> == [7])
      #expect(control.value(forKey: "items (TextControl)") as? String == "text")
      #expect(control.value(forKey: "items (Control<Int>)") as? [Int] == [])
      #expect(Control<Int>().value(forKey: "title") as? String == "base")
      control.setValue("set", forKey: "items (TextControl)")
      #expect(log.take() == ["items text set"])
    }

    @Test func `Key paths outside the class, and those of protocols, name the superclass's property`() {
      for observeIt in [observeTitle, observeRequirement] {
        for sheet in [OwnSheet(), Sheet()] {
          let token = observeIt(sheet, log)
          (sheet as? OwnSheet)?.title = 6
          sheet.rename("new")
          #expect(log.take() == ["title base new"])
          token.invalidate()
        }
      }
    }

    @Test func `What a superclass declares, by name or by key path, is true of its own property only`() {
      let (named, typed) = (OwnSheet(), OwnTypedSheet())
      let tokens = [
        named.record(\.total, as: "total", to: log), named.record(\.state, as: "own", to: log), named.observeState(log),
        typed.record(\.total, as: "total", to: log), typed.record(\.state, as: "own", to: log), typed.observeState(log),
      ]
      for sheet in [named, typed] as [any OwnProperties] {
        sheet.add()
        #expect(log.take() == ["total 0 1"])
        sheet.sum = "x"
        #expect(log.take() == [])
        sheet.advance()
        #expect(log.take() == ["base 0 1"])
        sheet.state = "x"
        #expect(log.take() == ["own  x"])
      }
      for token in tokens { token.invalidate() }
    }

    @Test func `What an overriding member declares by name depends on the properties of its class only`() {
      let summary = OwnSummary()
      let tokens = [
        summary.observe(\.sum) { [log] _, _ in log.add("sum") },
        summary.observe(\.mean) { [log] _, _ in log.add("mean") },
      ]
      defer { for token in tokens { token.invalidate() } }
      summary.change()
      // An override that calls `super` has the superclass's properties as well.
      #expect(log.take() == ["mean"])
      summary.rest = "c"
      #expect(log.take() == ["sum"])
      summary.part = "d"
      #expect(Set(log.take()) == ["sum", "mean"])
    }

    @Test func `A typed key path that ends at a hidden property mutates and observes the superclass's property`() {
      let sheet = OwnSheet()
      let (holder, observer) = (SheetHolder(sheet), ItemsObserver())
      observeItems(of: holder, observer)
      grow(holder)
      #expect(sheet.items == ["a"] && sheet.itemsNow == [1, 2])
      #expect(observer.changes == 1)
      holder.stopObserving("sheet.items", for: observer)
      #expect(holder.observationInfo == nil)
    }
  }
#endif
