// What names and key paths of a superclass's hidden properties mean in instances of a subclass that uses the names again.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  final class OwnSheet: Sheet {
    var title = 5
    var items = ["a"]
    var sum = ""
    var state = ""
    var name = 0.5
  }

  @KeyValueObservable
  final class MutexLast: LockedSheet {
    var title = 1
  }

  @KeyValueObservable
  class LockedSheet {
    private var title = "base"
    private var lock: Lock { Lock() }

    struct Lock: ~Copyable {}
    func rename(_ title: String) { self.title = title }
    func observeTitle(_ log: Log) -> NSKeyValueObservation {
      observe(\.title, options: [.old, .new]) { log.add("base", $1.oldValue, $1.newValue) }
    }
  }

  @KeyValueObservable
  final class OwnTypedSheet: TypedSheet {
    var sum = ""
    var state = ""
  }

  @KeyValueObservable
  class OwnSummary: Summary {
    var part = "a"
    var rest = "b"
    override class func keyPathsForValuesAffectingSum() -> Set<String> { ["part", "rest"] }
    override class func automaticallyNotifiesObserversOfLines() -> Bool { true }
    override class func keyPathsForValuesAffectingMean() -> Set<String> {
      super.keyPathsForValuesAffectingMean().union(["lines"])
    }
  }
  final class PlainSummary: OwnSummary {}

  struct HiddenPropertyTests {
    @Test func `A hidden property of a noncopyable type does not make the next one its superclass's`() {
      let (sheet, log) = (MutexLast(), Log())
      let token = sheet.observe(\.title, options: [.old, .new]) { log.add("own", $1.oldValue, $1.newValue) }
      let other = sheet.observeTitle(log)
      sheet.rename("a string that is too long to be stored in place")
      #expect(log.take() == ["base base a string that is too long to be stored in place"])
      sheet.title = 2
      #expect(log.take() == ["own 1 2"])
      token.invalidate()
      other.invalidate()
    }

    @Test func `Key paths outside the class, and those of protocols, name the superclass's property`() {
      for observeIt in [observeTitle, observeRequirement] {
        for sheet in [OwnSheet(), Sheet()] {
          let log = Log()
          let token = observeIt(sheet, log)
          (sheet as? OwnSheet)?.title = 6
          sheet.rename("new")
          #expect(log.take() == ["title base new"])
          token.invalidate()
        }
      }
    }

    @Test func `What a superclass's member declares by name depends on the superclass's property`() {
      let (sheet, log) = (OwnSheet(), Log())
      let token = sheet.observe(\.total, options: [.old, .new]) { log.add("total", $1.oldValue, $1.newValue) }
      sheet.add()
      #expect(log.take() == ["total 0 1"])
      sheet.sum = "x"
      #expect(log.take() == [])
      token.invalidate()
    }

    @Test(arguments: [OwnSummary.self, PlainSummary.self])
    func `What an overriding member declares by name depends on the properties of its class only`(
      type: OwnSummary.Type
    ) {
      let (summary, log) = (type == PlainSummary.self ? PlainSummary() : OwnSummary(), Log())
      let tokens = [
        summary.observe(\.sum) { _, _ in log.add("sum", 0, 0) },
        summary.observe(\.lines) { _, _ in log.add("lines", 0, 0) },
        summary.observe(\.mean) { _, _ in log.add("mean", 0, 0) },
      ]
      defer { for token in tokens { token.invalidate() } }
      summary.change()
      // An override that calls `super` has the superclass's properties as well.
      #expect(log.take() == ["mean 0 0"])
      summary.rest = "c"
      #expect(log.take() == ["sum 0 0"])
      summary.part = "d"
      #expect(Set(log.take()) == ["sum 0 0", "mean 0 0"])
      summary.lines = 1
      #expect(Set(log.take()) == ["lines 0 0", "mean 0 0"])
    }

    @Test func `What a superclass's member says about notification is true of the superclass's property only`() {
      let (sheet, log) = (OwnSheet(), Log())
      let token = sheet.observe(\.state, options: [.old, .new]) { log.add("own", $1.oldValue, $1.newValue) }
      let other = sheet.observeState(log)
      sheet.advance()
      #expect(log.take() == ["base 0 1"])
      sheet.state = "x"
      #expect(log.take() == ["own  x"])
      token.invalidate()
      other.invalidate()
    }

    @Test func `The same holds for typed declarations`() {
      let (sheet, log) = (OwnTypedSheet(), Log())
      let tokens = [
        sheet.observe(\.total, options: [.old, .new]) { log.add("total", $1.oldValue, $1.newValue) },
        sheet.observe(\.state, options: [.old, .new]) { log.add("own", $1.oldValue, $1.newValue) },
        sheet.observeState(log),
      ]
      sheet.add()
      #expect(log.take() == ["total 0 1"])
      sheet.sum = "x"
      #expect(log.take() == [])
      sheet.advance()
      #expect(log.take() == ["base 0 1"])
      sheet.state = "x"
      #expect(log.take() == ["own  x"])
      for token in tokens { token.invalidate() }
    }

    @Test func `A typed key path that ends at a hidden property mutates and observes the superclass's property`() {
      let sheet = OwnSheet()
      let (holder, observer) = (SheetHolder(sheet), ItemsObserver())
      observeItems(of: holder, observer)
      grow(holder)
      #expect(sheet.items == ["a"] && sheet.itemsNow == [1, 2])
      #expect(observer.changes == 1 && observer.observations.debugDescription.contains("sheet.items"))
      observer.observations.unobserveAll()
    }
  }
#endif
