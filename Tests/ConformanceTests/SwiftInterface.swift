// Section S of Documentation/AppleCompatibility.md: the Swift API on Apple's platforms.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  private enum Mood: Int { case calm, angry }

  @KeyValueObservable
  private final class Typed {
    var mood = Mood.calm
    var optional: Int?
    var list: [Int] = []
    var bag: Set<Int> = [1]
    /// Announces itself, as a property that is not dynamic does on Apple's platforms.
    var doubled = 0 {
      willSet { willChangeValue(for: \.doubled) }
      didSet { didChangeValue(for: \.doubled) }
    }
    @NotObserved var plain = 0

    func log<Value>(_ path: KeyPath<Typed, Value>, to log: Log) -> NSKeyValueObservation {
      observe(path, options: [.old, .new]) { _, change in
        log.add("\(change.oldValue! as Any)>\(change.newValue! as Any)")
      }
    }
  }

  @Suite("S. The Swift interface")
  struct SwiftInterface {
    private let object = Typed()
    let log = Log()

    @Test func `299, 306: The closure receives the object and a typed change, with values only if requested`() {
      let identity = ObjectIdentifier(object)
      let tokens = [
        object.observe(\.mood) { [log] object, change in
          log.add("\(ObjectIdentifier(object) == identity) \(change.oldValue == nil) \(change.newValue == nil)")
        },
        object.observe(\.mood, options: [.old, .new]) { [log] _, change in
          log.add("\(change.kind) \(change.oldValue!) \(change.newValue!) \(change.isPrior)")
        },
      ]
      object.mood = .angry
      #expect(log.lines == ["setting calm angry false", "true true true"])
      withExtendedLifetime(tokens) {}
    }

    @Test func `300, 301: An observation lasts until its token is invalidated, also in the closure, or released`() {
      final class Holder: @unchecked Sendable { var token: NSKeyValueObservation? }
      let holder = Holder()
      holder.token = object.observe(\.optional) { [log] _, _ in
        log.add("notified")
        holder.token?.invalidate()
        holder.token?.invalidate()
      }
      object.optional = 1
      object.optional = 2
      #expect(log.take() == ["notified"])
      holder.token = object.observe(\.optional) { [log] _, _ in log.add("notified") }
      object.optional = 3
      holder.token = nil
      object.optional = 4
      #expect(log.take() == ["notified"])
    }

    @Test func `287, 302, 303, 314: A token does not retain its object, and either may be released first`() {
      weak var weakObject: Typed?
      var token: NSKeyValueObservation?
      let raised = codes {
        do {
          let object = Typed()
          weakObject = object
          token = object.observe(\.optional) { _, _ in }
        }
        #expect(weakObject == nil)
        token = object.observe(\.optional) { _, _ in }
        token = nil
        object.optional = 1
      }
      #expect(raised == [] && token == nil)
    }

    @Test func `305, 307, 308: Enums and key paths without a string are observed, and nil is a present value`() {
      let tokens = [
        object.log(\.optional, to: log), object.log(\.mood, to: log), object.log(\.list.count, to: log),
      ]
      object.optional = 1
      object.mood = .angry
      object.list.append(7)
      #expect(log.lines == ["nil>Optional(1)", "calm>angry", "0>1"])
      withExtendedLifetime(tokens) {}
    }

    @Test func `309, 310: Indexes are present in ordered changes only, and isPrior is true before the change only`() {
      let token = object.observe(\.list, options: [.prior]) { [log] _, change in
        log.add("\(change.kind) \(change.indexes.map(Array.init) ?? [-1]) \(change.isPrior)")
      }
      object.list = [1]
      object.willChange(.insertion, valuesAt: [0], for: \.list)
      object.didChange(.insertion, valuesAt: [0], for: \.list)
      #expect(log.lines == ["setting [-1] true", "setting [-1] false", "insertion [0] true", "insertion [0] false"])
      token.invalidate()
    }

    @Test func `311: Every kind of change can be announced with typed key paths`() {
      let tokens = [
        object.observe(\.list, options: [.new]) { [log] _, change in log.add("list \(change.kind)") },
        object.observe(\.bag, options: [.new]) { [log] _, change in log.add("bag \(change.kind)") },
      ]
      object.willChangeValue(for: \.list)
      object.didChangeValue(for: \.list)
      object.willChange(.insertion, valuesAt: [0], for: \.list)
      object.didChange(.insertion, valuesAt: [0], for: \.list)
      object.willChangeValue(for: \.bag, withSetMutation: .minus, using: [1])
      object.didChangeValue(for: \.bag, withSetMutation: .minus, using: [1])
      #expect(log.lines == ["list setting", "list insertion", "bag removal"])
      withExtendedLifetime(tokens) {}
    }

    @Test func `312: A property that announces itself in willSet and didSet notifies twice`() {
      let token = object.log(\.doubled, to: log)
      object.doubled = 1
      #expect(log.lines == ["0>1", "0>1"])
      token.invalidate()
    }

    @Test func `316: Every stored property notifies without an attribute, unless it has @NotObserved`() {
      let tokens = [object.log(\.mood, to: log), object.log(\.plain, to: log)]
      object.mood = .angry
      object.plain = 1
      #expect(log.lines == ["calm>angry"])
      withExtendedLifetime(tokens) {}
    }
  }
#endif
