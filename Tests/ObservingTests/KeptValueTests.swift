// The values that an observation keeps after a notification: none that would retain an object.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  private protocol Delegate: AnyObject {}

  private final class Referee: Delegate {}

  private struct Team {
    var captain: Referee?
    var name = ""
  }

  private struct Loose {
    weak var referee: Referee?
  }

  @KeyValueObservable
  private final class View {
    weak var delegate: (any Delegate)?
    weak var anything: AnyObject?
    weak var referee: Referee?
    weak var next: View?
    var loose = Loose()
    var name = "view"
    @NotObserved var owned: Referee?
    var list: [Referee] = []
    var team = Team()
    var closure: (() -> Void)?
    var unmanaged: Unmanaged<Referee>?
    var existential: (any Delegate)?

    /// Returns the weak reference in types that contain references indirectly.
    var delegates: [any Delegate] { [delegate].compactMap(\.self) }
    var nested: (any Delegate)?? { .some(delegate) }
    var anyValue: Any { delegate as Any }
    var capturing: () -> Bool {
      let held = delegate
      return { held != nil }
    }
    var structure: Team { Team(captain: delegate as? Referee) }
    var byName: [String: any Delegate] { delegate.map { ["it": $0] } ?? [:] }
    var nextName: String { next?.name ?? "none" }
    var identity: ObjectIdentifier? { delegate.map { ObjectIdentifier($0) } }
  }

  @KeyValueObservable
  private final class Holder<Item: AnyObject> {
    weak var item: Item?
  }

  @Suite("The values that an observation keeps")
  struct KeptValueTests {
    private static let optionSets = (0..<16).map { NSKeyValueObservingOptions(rawValue: $0) }

    /// Returns whether a weakly referenced object is deallocated with its last strong reference although a key path is observed.
    private func dies<Value>(_ path: KeyPath<View, Value>, _ options: NSKeyValueObservingOptions) -> Bool {
      let (view, next) = (View(), View())
      view.next = next
      let token = view.observe(path, options: options) { _, _ in }
      weak var gone: Referee?
      do {
        let referee = Referee()
        gone = referee
        for each in [view, next] {
          (each.delegate, each.anything, each.referee) = (referee, referee, referee)
          each.loose.referee = referee
        }
        #expect(gone != nil)
      }
      defer { withExtendedLifetime((token, next)) {} }
      return gone == nil && view.delegate == nil && view.anything == nil && next.delegate == nil
    }

    @Test func `A classic observer receives the old value without objects when a weakly referenced object dies`() {
      let (view, lines) = (View(), Log())
      final class Observer: KeyValueObserver {
        let lines: Log
        init(_ lines: Log) { self.lines = lines }
        func observeValue(
          forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
          context: UnsafeMutableRawPointer?
        ) {
          lines.add("\(keyPath!) \(change?[.oldKey] ?? "-")>\(change?[.newKey] ?? "-")")
        }
      }
      let observer = Observer(lines)
      for path in ["next.name", "nextName", "next.referee"] {
        view.addObserver(observer, forKeyPath: path, options: [.old, .new, .endsWithObserver])
      }
      var next: View? = View()
      let referee = Referee()
      next!.referee = referee
      view.next = next
      #expect(lines.take().contains("next.name <null>>view"))
      next!.name = "shown"
      #expect(Set(lines.take()) == ["next.name view>shown", "nextName view>shown"])
      next = nil
      #expect(Set(lines.take()) == ["next.name shown><null>", "nextName shown>none", "next.referee ->\(NSNull())"])
    }

    @Test(arguments: optionSets)
    func
      `What a weak property refers to dies at its last strong reference, whatever the property's type and the options`(
        options: NSKeyValueObservingOptions
      )
    {
      #expect(dies(\.delegate, options))
      #expect(dies(\.anything, options))
      #expect(dies(\.referee, options))
      #expect(dies(\.loose, options))
      #expect(dies(\.loose.referee, options))
    }

    @Test(arguments: optionSets)
    func `A replaced value is released once its observers have returned`(options: NSKeyValueObservingOptions) {
      let view = View()
      weak var replaced: Referee?
      do {
        let referee = Referee()
        replaced = referee
        view.team = Team(captain: referee)
      }
      let token = view.observe(\.team, options: options) { _, _ in }
      #expect(replaced != nil)
      view.team = Team()
      #expect(replaced == nil)
      token.invalidate()
    }

    @Test(arguments: optionSets)
    func `The end of a path and a computed property do so too`(options: NSKeyValueObservingOptions) {
      #expect(dies(\.next?.delegate, options))
      #expect(dies(\.next?.anything, options))
      #expect(dies(\.next?.loose, options))
      #expect(dies(\.delegates, options))
      #expect(dies(\.nested, options))
      #expect(dies(\.anyValue, options))
      #expect(dies(\.capturing, options))
      #expect(dies(\.structure, options))
      #expect(dies(\.byName, options))
      #expect(dies(\.identity, options))
      #expect(dies(\.next?.nested, options))
      #expect(dies(\.next?.capturing, options))
      #expect(dies(\.next?.structure, options))
    }

    @Test func `A property whose type is a parameter of the class does so too`() {
      let holder = Holder<Referee>()
      let token = holder.observe(\.item, options: [.old, .new]) { _, _ in }
      do {
        let referee = Referee()
        holder.item = referee
      }
      #expect(holder.item == nil)
      withExtendedLifetime(token) {}
    }

    /// Returns whether the values of an object on the path are released with that object.
    private func diesWithIntermediate<Value>(
      _ path: KeyPath<View, Value>, _ options: NSKeyValueObservingOptions, _ hold: (View, Referee) -> Void
    ) -> Bool {
      let view = View()
      let token = view.observe(path, options: options) { _, _ in }
      weak var gone: Referee?
      do {
        let (next, referee) = (View(), Referee())
        hold(next, referee)
        view.next = next
        gone = referee
      }
      defer { withExtendedLifetime(token) {} }
      return gone == nil && view.next == nil
    }

    @Test(arguments: optionSets + optionSets.map { $0.union(.collectionChanges) })
    func `Values of an object on the path are released with it, in an array, a structure or a closure too`(
      options: NSKeyValueObservingOptions
    ) {
      #expect(diesWithIntermediate(\.next?.list, options) { $0.list = [$1] })
      #expect(diesWithIntermediate(\.next?.team, options) { $0.team.captain = $1 })
      #expect(diesWithIntermediate(\.next?.existential, options) { $0.existential = $1 })
      #expect(diesWithIntermediate(\.next?.closure, options) { view, referee in view.closure = { _ = referee } })
      #expect(
        diesWithIntermediate(\.next?.unmanaged, options) {
          $0.unmanaged = .passUnretained($1)
          $0.owned = $1
        })
    }

    /// Returns the old value that is delivered when a weakly referenced object on the path is deallocated.
    private func oldValue<Value>(_ path: KeyPath<View, Value>) -> Value? {
      let view = View()
      nonisolated(unsafe) var old: Value?
      let token = view.observe(path, options: [.old]) { _, change in old = change.oldValue }
      do {
        let next = View()
        view.next = next
        old = nil
      }
      token.invalidate()
      return old
    }

    @Test func `The deallocation of an object on the path delivers the old value only if it holds no object`() {
      #expect(oldValue(\.next?.name) == "view")
      #expect(oldValue(\.next?.name.count) == 4)
      #expect(oldValue(\.next?.list.count) == 0)
      #expect(oldValue(\.next?.name.utf8.first) == 118)
      #expect(oldValue(\.next?.team) == nil)
      #expect(oldValue(\.next?.list) == nil)
    }
  }
#endif
