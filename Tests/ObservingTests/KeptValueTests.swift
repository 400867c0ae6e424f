// The values that an observation keeps after a notification: none that would retain an object.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  private protocol Delegate: AnyObject {}

  private final class Referee: Delegate {}

  private final class Load: NSObject {}

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
    var load: Load?
    var closure: (() -> Void)?
    var unmanaged: Unmanaged<Referee>?
    var existential: (any Delegate)?

    // The weak reference in types that contain references indirectly.
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

    @Test(arguments: optionSets)
    func `What a weak property refers to is deallocated with its last strong reference, whatever is observed of it`(
      options: NSKeyValueObservingOptions
    ) {
      let deallocated = [
        dies(\.delegate, options), dies(\.anything, options), dies(\.referee, options), dies(\.loose, options),
        dies(\.loose.referee, options),
        // At the end of a path, and returned by a computed property.
        dies(\.next?.delegate, options), dies(\.next?.anything, options), dies(\.next?.loose, options),
        dies(\.delegates, options), dies(\.nested, options), dies(\.anyValue, options), dies(\.capturing, options),
        dies(\.structure, options), dies(\.byName, options), dies(\.identity, options), dies(\.next?.nested, options),
        dies(\.next?.capturing, options), dies(\.next?.structure, options),
      ]
      #expect(deallocated.enumerated().filter { !$0.element }.map(\.offset) == [])
    }

    @Test(arguments: optionSets)
    func `A replaced value is released once its observers have returned`(options: NSKeyValueObservingOptions) {
      let view = View()
      let tokens = [
        view.observe(\.team, options: options) { _, _ in }, view.observe(\.load, options: options) { _, _ in },
      ]
      weak var replaced: Referee?
      weak var replacedLoad: Load?
      do {
        let (referee, load) = (Referee(), Load())
        (replaced, replacedLoad) = (referee, load)
        view.team = Team(captain: referee)
        view.load = load
      }
      #expect(replaced != nil && replacedLoad != nil)
      view.team = Team()
      view.load = nil
      #expect(replaced == nil && replacedLoad == nil)
      withExtendedLifetime(tokens) {}
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

    @Test func `A classic observer receives the old value without objects when a weakly referenced object dies`() {
      let (view, watcher) = (View(), Watcher())
      for path in ["next.name", "nextName", "next.referee"] {
        view.addObserver(watcher, forKeyPath: path, options: [.old, .new, .endsWithObserver])
      }
      var next: View? = View()
      let referee = Referee()
      next!.referee = referee
      view.next = next
      #expect(watcher.log.take().contains("next.name <null>>view"))
      next!.name = "shown"
      #expect(Set(watcher.log.take()) == ["next.name view>shown", "nextName view>shown"])
      next = nil
      let last = Set(watcher.log.take())
      #expect(last == ["next.name shown><null>", "nextName shown>none", "next.referee -><null>"])
    }
  }
#endif
