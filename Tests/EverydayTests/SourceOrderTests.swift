// The order of what sources tell, and what they tell no more after their end.
#if Macros
  import Dispatch
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("A source tells")
  struct SourceOrderTests {
    let document = SharedDocument()
    let queue = DispatchQueue(label: "serial")
    let log = Log<String>()

    @Test("what is made of the last values last, though a thread that makes it of older ones is slow")
    func slowThread() {
      let (left, right) = (SharedDocument(), SharedDocument())
      let (isWithin, mayGoOn, ended) = (
        DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
      )
      let both = KeyValueSource<String>.combineLatest(left.source(\.pages), right.source(\.pages)) {
        (left: Int, right: Int) -> String in
        if left == 1, right == 0 {
          isWithin.signal()
          mayGoOn.wait()
        }
        return "\(left) \(right)"
      }
      let token = both.observe(options: .new) { [log] change in log.add(change.newValue!) }
      Thread {
        left.pages = 1
        ended.signal()
      }.start()
      isWithin.wait()
      right.pages = 1
      mayGoOn.signal()
      ended.wait()
      #expect(log.all == ["1 0", "1 1"])
      token.invalidate()
    }

    @Test("changes on a queue in their order, also if the initial value was filtered out")
    func filteredInitial() {
      queue.suspend()
      let token = document.source(\.title).filter { !$0.isEmpty }
        .delivered(on: queue).observe(options: [.initial, .new]) { [log] change in log.add(change.newValue!) }
      elsewhere { [document] in document.title = "A" }
      document.title = "B"
      queue.resume()
      for _ in 1...4 { queue.sync {} }
      #expect(log.all == ["A", "B"])
      token.invalidate()
    }

    @Test("nothing more of several objects when its token is released")
    func endsWithToken() {
      let (one, other, log) = (SharedDocument(), SharedDocument(), Log<Int>())
      let sum = KeyValueSource.combineLatest(one.source(\.pages), other.source(\.pages)) { $0 + $1 }
      var tokens = [
        sum.observe(options: .new) { log.add($0.newValue!) },
        KeyValueSource.merge(one.source(\.pages), other.source(\.pages)).observe(options: .new) {
          log.add($0.newValue!)
        },
      ]
      one.pages = 1
      #expect(log.all == [1, 1])
      tokens.removeAll()
      other.pages = 1
      one.pages = 2
      #expect(log.all == [1, 1] && one.observationInfo == nil && other.observationInfo == nil)
    }

    @Test("nothing more of what waits on a queue when its handler has ended it")
    func endedOnQueue() {
      let tokens = Log<NSKeyValueObservation>()
      queue.suspend()
      let token = document.source(\.title).delivered(on: queue).observe(options: .new) { [log] change in
        log.add(change.newValue!)
        tokens.all.first?.invalidate()
      }
      tokens.add(token)
      document.title = "A"
      document.title = "B"
      queue.resume()
      for _ in 1...4 { queue.sync {} }
      #expect(log.all == ["A"])
    }

    @Test("nothing more of what waits on an actor when its handler has ended it, with a receiver and without one")
    @MainActor
    func endedOnActor() async {
      let (panel, tokens) = (Panel(), Log<NSKeyValueObservation>())
      var seen: [String] = []
      let title = document.source(\.title)
      let first = title.observe(options: .new) { change in
        seen.append(change.newValue!)
        tokens.all[0].invalidate()
      }
      let second = title.observe(options: .new, for: panel) { me, change in
        me.log.append(change.newValue!)
        tokens.all[1].invalidate()
      }
      for token in [first, second] { tokens.add(token) }
      elsewhere { [document] in
        document.title = "A"
        document.title = "B"
      }
      while seen.isEmpty || panel.log.isEmpty { await Task.yield() }
      #expect(seen == ["A"])
      #expect(panel.log == ["A"])
    }

    @Test("nothing of merged changes that come back to an equal value, if the option is .distinct")
    func mergedToEqual() {
      let title = document.source(\.title)
      for source in [title, title.map { $0 }] {
        let log = Log<String>()
        queue.suspend()
        let token = source.delivered(on: queue).coalesced().observe(options: [.new, .distinct]) { change in
          log.add("\(change.oldValue ?? "-")>\(change.newValue!)")
        }
        document.title = "A"
        document.title = ""
        queue.resume()
        for _ in 1...4 { queue.sync {} }
        #expect(log.all == [])
        document.title = "B"
        for _ in 1...4 { queue.sync {} }
        #expect(log.all == ["->B"])
        token.invalidate()
        document.title = ""
      }
    }

    @Test("each change of elements on a queue, and of merged ones the whole collection")
    func elements() {
      let (list, each, merged) = (SharedList(), Log<String>(), Log<String>())
      queue.suspend()
      let tokens = [
        list.source(\.items).delivered(on: queue).observe(options: [.old, .new]) { change in
          each.add("\(change.kind) \(change.oldValue ?? []) \(change.newValue ?? [])")
        },
        list.source(\.items).delivered(on: queue).coalesced().observe(options: [.old, .new]) { change in
          merged.add("\(change.kind) \(change.oldValue ?? []) \(change.newValue ?? [])")
        },
      ]
      list.mutableArrayValue(for: \.items).append(1)
      list.mutableArrayValue(for: \.items).append(2)
      queue.resume()
      for _ in 1...4 { queue.sync {} }
      #expect(each.all == ["insertion [] [1]", "insertion [] [2]"])
      #expect(merged.all == ["setting [] [1, 2]"])
      for token in tokens { token.invalidate() }
    }
  }
#endif
