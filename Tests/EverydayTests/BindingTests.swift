// Bindings in one direction: what they set and when, cycles, and their end.
#if Macros
  import KeyValueObserving
  import Testing

  @Suite("A binding")
  struct BindingTests {
    private let one = Document()
    private let other = Document()
    private let log = Log<String>()

    @Test("sets its target now and at each change, through operators")
    func oneWay() {
      one.title = "a"
      one.source(\.title).filter { !$0.isEmpty }.map { $0.uppercased() }.bind(to: other, \.title)
      #expect(other.title == "A")
      for title in ["b", ""] { one.title = title }
      #expect(other.title == "B")
      final class OptionalPanel { var caption: String? }
      let panel = OptionalPanel()
      other.source(\.title).bind(to: panel, \.caption)
      #expect(panel.caption == "B")
    }

    @Test("with .wait first sets its target at the next change; it sets no equal value, and then calls no applied")
    func wait() {
      let (one, other) = (SharedDocument(), SharedDocument())
      one.title = "a"
      one.source(\.title).bind(to: other, \.title, initially: .wait) { [log] in log.add(other.title) }
      #expect(other.title == "" && log.all == [])
      for _ in 1...3 { one.title = "b" }
      #expect(log.all == ["b"])
      elsewhere { for _ in 1...3 { one.title = "c" } }
      #expect(log.all == ["b", "c"])
    }

    @Test("keeps neither side, and ends with either")
    func ends() {
      var (document, other): (Document?, Document?) = (Document(), Document())
      let token = document!.source(\.title).bind(to: other!, \.title)
      #expect(token.isActive)
      other = nil
      #expect(!token.isActive)
      document!.title = "A"
      let second = document!.source(\.title).bind(to: one, \.title)
      document = nil
      #expect(!second.isActive && one.title == "A")
    }

    @Test("to an expression follows what it reads")
    func expression() {
      let one = one
      other.bind(\.title) { "\(one.title) (\(one.pages))" }
      one.title = "A"
      one.pages = 2
      #expect(other.title == "A (2)")
    }

    @Test("of merged sources first sets the value of the first one that has one, once, and then that of each change")
    func merged() {
      typealias Source = KeyValueSource<Int>
      func values(_ make: (Source, Source) -> Source) -> [Int] {
        let (one, other, target, set) = (Document(), Document(), Document(), Log<Int>())
        (one.pages, other.pages) = (1, 3)
        target.onChange(of: \.pages, for: set) { set, _, new in set.add(new) }
        make(one.source(\.pages), other.source(\.pages)).bind(to: target, \.pages)
        other.pages = 5
        one.pages = 4
        return set.all
      }
      #expect(values { .merge($0, $1) } == [1, 5, 4])
      #expect(values { .merge($0.map { $0 }, $1.filter { $0 > 2 }) } == [1, 5, 4])
      #expect(values { .merge($0, .merge($1, $1.filter { _ in false })) } == [1, 5, 4])
      #expect(values { .merge(.merge($0, $1), $1.filter { _ in false }) } == [1, 5, 4])
      #expect(values { Source.merge($0, $1).map { $0 }.removeDuplicates() } == [1, 5, 4])
      #expect(values { .merge($0.filter { $0 > 1 }, $1) } == [3, 5, 4])
      #expect(values { Source.merge($0, $1).filter { $0 > 1 } } == [5, 4])
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

    @Test("is one of several into a property, and unbind ends them: all, those from one property, or all of the object")
    func unbind() {
      let target = Document()
      func bind() {
        one.source(\.title).map { $0 }.bind(to: target, \.title, initially: .wait)
        other.source(\.title).bind(to: target, \.title, initially: .wait)
        one.source(\.pages).bind(to: target, \.pages, initially: .wait)
      }
      func afterChanges() -> [String] {
        target.title = "-"
        target.pages = 0
        one.title = "one"
        let first = target.title
        other.title = "other"
        one.pages = 1
        return [first, target.title, "\(target.pages)"]
      }
      bind()
      #expect(afterChanges() == ["one", "other", "1"])
      for _ in 1...2 { target.unbind(\.title, from: one, \.title) }
      #expect(afterChanges() == ["-", "other", "1"])
      target.unbind(\.title)
      #expect(afterChanges() == ["-", "-", "1"])
      bind()
      target.unbindAll()
      #expect(afterChanges() == ["-", "-", "0"])
    }

    @Test("that is exclusive replaces the others, also two-way ones, and says so")
    func exclusive() {
      let (target, third) = (Document(), Document())
      one.source(\.title).bind(to: target, \.title)
      #expect(faults { other.source(\.title).bind(to: target, \.title, exclusive: true) } == [19])
      one.title = "one"
      #expect(target.title == "")
      other.title = "other"
      #expect(target.title == "other")
      let token = one.bindTwoWay(\.pages, with: target, \.pages)
      #expect(faults { one.bindTwoWay(\.pages, with: third, \.pages, exclusive: true).invalidate() } == [19])
      #expect(!token.isActive)
      #expect(faults { other.source(\.pages).bind(to: one, \.pages, exclusive: true) } == [], "all have ended")
    }

    @Test("in a cycle of three settles, also if a setter corrects the value, on each thread that uses it")
    func cycle() {
      nonisolated(unsafe) let sides = [100, 40, 100].map { most in Corrected { min($0, most) } }
      let codes = faults {
        for (index, side) in sides.enumerated() { side.source(\.value).bind(to: sides[(index + 1) % 3], \.value) }
        sides[0].value = 7
        #expect(sides.map(\.value) == [7, 7, 7])
        elsewhere { sides[2].value = 99 }
        #expect(sides.map(\.value) == [40, 40, 40])
        elsewhere { sides[1].value = 12 }
        #expect(sides.map(\.value) == [12, 12, 12])
        sides[1].value = 77
        #expect(sides.map(\.value) == [40, 40, 40])
      }
      #expect(codes == [])
    }

    @Test("among many that connect the same objects notifies each a few times, not once for each way through them")
    func mesh() {
      for isTwoWay in [true, false] {
        let (all, calls) = ((0..<12).map { _ in Document() }, Log<Int>())
        for one in all {
          for other in all where one !== other {
            if isTwoWay {
              one.bindTwoWay(\.pages, with: other, \.pages)
            } else {
              one.source(\.pages).bind(to: other, \.pages)
            }
          }
        }
        for document in all { document.onChange(of: \.pages, for: calls) { calls, _, new in calls.add(new) } }
        all[0].pages = 1
        #expect(all.allSatisfy { $0.pages == 1 })
        #expect(calls.all.count <= 12 * 24, "\(calls.all.count)")
        all[5].pages = 2
        #expect(all.allSatisfy { $0.pages == 2 })
      }
    }

    @Test("in a cycle notifies an observer that is older once of each change, with its own kind")
    func olderObservers() {
      for count in [2, 3] {
        let (all, log) = ((0..<count).map { _ in SharedList() }, Log<String>())
        all[0].observe(\.items, options: [.old, .new], for: log) { log, _, change in
          let (old, new, indexes) = (change.oldValue ?? [], change.newValue ?? [], change.indexes.map(Array.init) ?? [])
          log.add("\(change.kind) \(old) \(new) \(indexes)")
        }
        for (index, list) in all.enumerated() { list.source(\.items).bind(to: all[(index + 1) % count], \.items) }
        let registered = log.all.count
        all[0].mutableArrayValue(for: \.items).append(7)
        all[0].mutableArrayValue(for: \.items).remove(at: 0)
        #expect(log.all.dropFirst(registered) == ["insertion [] [7] [0]", "removal [7] [] [0]"])
        #expect(all.allSatisfy { $0.items.isEmpty })
      }
    }

    @Test("in a cycle that never settles is a fault, once for a change, and all keep their last values")
    func endlessCycle() {
      let first = faults {
        one.source(\.pages).map { $0 + 1 }.bind(to: other, \.pages)
        other.source(\.pages).bind(to: one, \.pages)
      }
      let later = faults {
        one.pages = 1
        other.pages = 5
      }
      #expect(first == [24] && later == [24, 24])
      #expect(abs(one.pages - other.pages) <= 1)
    }

    @Test("that settles after many rounds is no fault, at each change and on each thread")
    func manyRounds() {
      let (one, other, codes) = (SharedDocument(), SharedDocument(), Log<Int>())
      @Sendable func change(_ body: () -> Void) { for code in faults(in: body) { codes.add(code) } }
      change {
        one.source(\.pages).map { min($0 + 1, 500) }.bind(to: other, \.pages)
        other.source(\.pages).bind(to: one, \.pages)
      }
      #expect([one.pages, other.pages] == [500, 500])
      for _ in 1...3 {
        change { one.pages = 0 }
        #expect([one.pages, other.pages] == [500, 500])
      }
      elsewhere { change { one.pages = 0 } }
      #expect([one.pages, other.pages] == [500, 500])
      #expect(codes.all == [])
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
      nonisolated(unsafe) let one = one
      one.source(\.pages).bind(to: other, \.pages)
      other.observe(\.pages, for: log) { _, other, _ in
        other.unbind(\.pages)
        one.pages = 9
      }
      one.pages = 5
      #expect([one.pages, other.pages] == [9, 5])
      one.bindTwoWay(\.title, with: other, \.title)
      other.observe(\.title, for: log) { _, other, _ in
        other.unbind(\.title)
        one.title = "B"
      }
      one.title = "A"
      #expect([one.title, other.title] == ["B", "A"])
    }

    @Test("can be ended while it sets its target for the first time")
    func endedInitially() {
      one.pages = 1
      let token = one.source(\.pages).bind(to: other, \.pages) { other.unbind(\.pages) }
      one.pages = 5
      #expect(other.pages == 1 && !token.isActive)
      other.title = "-"
      one.bindTwoWay(\.title, with: other, \.title) { one.unbindAll() }
      other.title = "A"
      #expect(one.title == "-")
    }
  }
#endif
