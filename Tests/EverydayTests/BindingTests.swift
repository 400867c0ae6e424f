// Bindings in one direction.
#if Macros
  import Dispatch
  import KeyValueObserving
  import Testing

  @Suite("A binding")
  struct BindingTests {
    @Test("sets its target now and at each change, through operators")
    func oneWay() {
      let (document, other) = (Document(), Document())
      document.title = "a"
      document.source(\.title).filter { !$0.isEmpty }.map { $0.uppercased() }.bind(to: other, \.title)
      #expect(other.title == "A")
      document.title = "b"
      document.title = ""
      #expect(other.title == "B")
    }

    @Test("with .wait first sets its target at the next change")
    func wait() {
      let (document, other) = (Document(), Document())
      document.title = "a"
      document.source(\.title).bind(to: other, \.title, initially: .wait)
      #expect(other.title == "")
      document.title = "b"
      #expect(other.title == "b")
    }

    @Test("keeps neither side, and ends with either")
    func ends() {
      var (document, other): (Document?, Document?) = (Document(), Document())
      let token = document!.source(\.title).bind(to: other!, \.title)
      #expect(token.isActive)
      other = nil
      #expect(!token.isActive)
      document!.title = "A"
      other = Document()
      let second = document!.source(\.title).bind(to: other!, \.title)
      document = nil
      #expect(!second.isActive)
      #expect(other!.title == "A")
    }

    @Test("to an expression follows what it reads")
    func expression() {
      let (document, other) = (Document(), Document())
      other.bind(\.title) { "\(document.title) (\(document.pages))" }
      document.title = "A"
      document.pages = 2
      #expect(other.title == "A (2)")
    }

    @Test("calls applied after each set")
    func applied() {
      let (document, other, log) = (Document(), Document(), Log<String>())
      document.source(\.title).bind(to: other, \.title) { log.add(other.title) }
      document.title = "A"
      #expect(log.all == ["A"])
    }

    @Test("of merged sources first sets the value of the first one that has one, once, and then that of each change")
    func merged() {
      typealias Source = KeyValueSource<Int>
      func told(_ make: (Source, Source) -> Source) -> [Int] {
        let (one, other, target) = (Document(), Document(), Document())
        (one.pages, other.pages) = (1, 3)
        var told: [Int] = []
        let token = target.onChange(of: \.pages) { _, new in told.append(new) }
        make(one.source(\.pages), other.source(\.pages)).bind(to: target, \.pages)
        other.pages = 5
        one.pages = 4
        token.invalidate()
        return told
      }
      #expect(told { .merge($0, $1) } == [1, 5, 4])
      #expect(told { .merge($0.map { $0 }, $1.filter { $0 > 2 }) } == [1, 5, 4])
      #expect(told { .merge($0, .merge($1, $1.filter { _ in false })) } == [1, 5, 4])
      #expect(told { .merge(.merge($0, $1), $1.filter { _ in false }) } == [1, 5, 4])
      #expect(told { Source.merge($0, $1).map { $0 }.removeDuplicates() } == [1, 5, 4])
      #expect(told { .merge($0.filter { $0 > 1 }, $1) } == [3, 5, 4])
      #expect(told { Source.merge($0, $1).filter { $0 > 1 } } == [5, 4])
    }

    @Test("of merged sources sets the value once on an actor, too, and follows a source that its own setting changes")
    @MainActor
    func mergedOnActor() {
      let (one, other, panel) = (Document(), Document(), Panel())
      (one.title, other.title) = ("A", "B")
      panel.onChange(of: \.caption, for: panel) { me, _, new in
        me.log.append(new)
        if new == "A" { one.title = "C" }
      }
      KeyValueSource.merge(one.source(\.title), other.source(\.title).map { $0 }).bind(to: panel, \.caption)
      #expect(panel.log == ["A", "C"])
      other.title = "D"
      #expect(panel.log == ["A", "C", "D"])
    }

    @Test("sets an optional property")
    func optional() {
      let (document, panel) = (Document(), OptionalPanel())
      document.source(\.title).bind(to: panel, \.caption)
      #expect(panel.caption == "")
    }

    @Test("is one of several into a property, and unbind ends them: all, those from one property, or all of the object")
    func unbind() {
      let (one, other, target) = (Document(), Document(), Document())
      func bind() {
        one.source(\.title).map { $0 }.bind(to: target, \.title, initially: .wait)
        other.source(\.title).bind(to: target, \.title, initially: .wait)
        one.source(\.pages).bind(to: target, \.pages, initially: .wait)
      }
      func told() -> [String] {
        target.title = "-"
        target.pages = 0
        one.title = "one"
        let first = target.title
        other.title = "other"
        one.pages = 1
        return [first, target.title, "\(target.pages)"]
      }
      bind()
      #expect(told() == ["one", "other", "1"])
      target.unbind(\.title, from: one, \.title)
      #expect(told() == ["-", "other", "1"])
      target.unbind(\.title, from: one, \.title)
      target.unbind(\.title)
      #expect(told() == ["-", "-", "1"])
      bind()
      target.unbindAll()
      #expect(told() == ["-", "-", "0"])
    }

    @Test("of a collection sets the whole collection, however it was changed")
    func collections() {
      let (one, other) = (SharedList(), SharedList())
      one.source(\.items).bind(to: other, \.items)
      one.source(\.marks).bind(to: other, \.marks)
      let (items, marks) = (one.mutableArrayValue(for: \.items), one.mutableSetValue(for: \.marks))
      items.append(contentsOf: [1, 2, 3])
      marks.formUnion([1, 2, 3])
      #expect(other.items == [1, 2, 3] && other.marks == [1, 2, 3])
      items.remove(at: 1)
      marks.remove(2)
      #expect(other.items == [1, 3] && other.marks == [1, 3])
      items[0] = 4
      marks.formSymmetricDifference([1, 4])
      #expect(other.items == [4, 3] && other.marks == [4, 3])
      items.removeAll()
      marks.removeAll()
      #expect(other.items == [] && other.marks == [])
    }

    @Test("that is exclusive replaces the others, and says so")
    func exclusive() {
      let (one, other, target) = (Document(), Document(), Document())
      one.source(\.title).bind(to: target, \.title)
      #expect(faults { other.source(\.title).bind(to: target, \.title, exclusive: true) } == [19])
      one.title = "one"
      #expect(target.title == "")
      other.title = "other"
      #expect(target.title == "other")
    }

    @Test("in a cycle of three settles, also if a setter corrects the value")
    func cycle() {
      let sides = [Bounded(most: 100), Bounded(most: 40), Bounded(most: 100)]
      let codes = faults {
        for (index, side) in sides.enumerated() { side.source(\.value).bind(to: sides[(index + 1) % 3], \.value) }
        sides[0].value = 7
        #expect(sides.map(\.value) == [7, 7, 7])
        sides[2].value = 99
      }
      #expect(codes == [])
      #expect(sides.map(\.value) == [40, 40, 40])
    }

    @Test("among many that connect the same objects tells each object a few times, not once for each way through them")
    func mesh() {
      for isTwoWay in [true, false] {
        let (all, panel) = ((0..<12).map { _ in Document() }, Panel())
        var told = 0
        for one in all {
          for other in all where one !== other {
            if isTwoWay {
              one.bindTwoWay(\.pages, with: other, \.pages)
            } else {
              one.source(\.pages).bind(to: other, \.pages)
            }
          }
        }
        for document in all { document.onChange(of: \.pages, for: panel) { _, _, _ in told += 1 } }
        all[0].pages = 1
        #expect(all.map(\.pages) == Array(repeating: 1, count: 12))
        #expect(told <= 12 * 24, "\(told)")
        all[5].pages = 2
        #expect(all.map(\.pages) == Array(repeating: 2, count: 12))
      }
    }

    @Test("in a cycle tells an observer that is older once of each change, with its own kind")
    func olderObservers() {
      for count in [2, 3] {
        let (all, log) = ((0..<count).map { _ in SharedList() }, Log<String>())
        let token = all[0].observe(\.items, options: [.old, .new]) { _, change in
          let (old, new, indexes) = (change.oldValue ?? [], change.newValue ?? [], change.indexes.map(Array.init) ?? [])
          log.add("\(change.kind) \(old) \(new) \(indexes)")
        }
        for (index, list) in all.enumerated() { list.source(\.items).bind(to: all[(index + 1) % count], \.items) }
        let registered = log.all.count
        all[0].mutableArrayValue(for: \.items).append(7)
        all[0].mutableArrayValue(for: \.items).remove(at: 0)
        #expect(log.all.dropFirst(registered) == ["insertion [] [7] [0]", "removal [7] [] [0]"])
        #expect(all.allSatisfy { $0.items.isEmpty })
        token.invalidate()
      }
    }

    @Test("in a cycle that never settles is told once for a change, and all keep their last values")
    func endlessCycle() {
      let (one, other) = (Document(), Document())
      let first = faults {
        one.source(\.pages).map { $0 + 1 }.bind(to: other, \.pages)
        other.source(\.pages).bind(to: one, \.pages)
      }
      #expect(first == [24])
      let later = faults {
        one.pages = 1
        other.pages = 5
      }
      #expect(later == [24, 24])
      #expect(abs(one.pages - other.pages) <= 1)
    }

    @Test("that settles after many rounds is no fault")
    func manyRounds() {
      let (one, other) = (Document(), Document())
      let codes = faults {
        one.source(\.pages).map { min($0 + 1, 500) }.bind(to: other, \.pages)
        other.source(\.pages).bind(to: one, \.pages)
      }
      #expect(codes == [])
      #expect([one.pages, other.pages] == [500, 500])
    }

    @Test("sets its target on the actor of the code that binds, in order, also for changes made elsewhere")
    @MainActor
    func onActor() async {
      let (shared, panel, log) = (SharedDocument(), Panel(), Log<String>())
      shared.source(\.title).bind(to: panel, \.caption) {
        MainActor.assertIsolated()
        log.add(panel.caption)
      }
      shared.title = "A"
      #expect(panel.caption == "A")
      await Task.detached { for title in ["B", "C", "D"] { shared.title = title } }.value
      while panel.caption != "D" { await Task.yield() }
      #expect(log.all == ["A", "B", "C", "D"])
    }

    @Test("that is ended while it sets its target does not set it again")
    func endedWithin() {
      nonisolated(unsafe) let one = Document()
      let other = Document()
      one.source(\.pages).bind(to: other, \.pages)
      let token = other.observe(\.pages) { other, _ in
        other.unbind(\.pages)
        one.pages = 9
      }
      one.pages = 5
      #expect([one.pages, other.pages] == [9, 5])
      one.bindTwoWay(\.title, with: other, \.title)
      let second = other.observe(\.title) { other, _ in
        other.unbind(\.title)
        one.title = "B"
      }
      one.title = "A"
      #expect([one.title, other.title] == ["B", "A"])
      withExtendedLifetime((token, second)) {}
    }

    @Test("can be ended while it sets its target for the first time")
    func endedInitially() {
      let (one, other) = (Document(), Document())
      one.pages = 1
      let token = one.source(\.pages).bind(to: other, \.pages) { other.unbind(\.pages) }
      one.pages = 5
      #expect(other.pages == 1)
      #expect(!token.isActive)
      other.title = "-"
      one.bindTwoWay(\.title, with: other, \.title) { one.unbindAll() }
      other.title = "A"
      #expect(one.title == "-")
    }

    @Test("chains, one hundred long")
    func chain() {
      let documents = (0...100).map { _ in Document() }
      for (source, target) in zip(documents, documents.dropFirst()) {
        source.source(\.pages).bind(to: target, \.pages, initially: .wait)
      }
      documents[0].pages = 3
      #expect(documents.allSatisfy { $0.pages == 3 })
    }
  }

  private final class OptionalPanel {
    var caption: String?
  }
#endif
