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
  }

  @Suite("S. The Swift interface")
  struct SectionS {
    private let object = Typed()
    let log = Log()

    @Test func `299, 306: The handler receives the object and a typed change, with values only if requested`() {
      let identity = ObjectIdentifier(object)
      let tokens = [
        object.observe(\.optional) { [log] object, change in
          log.add("\(ObjectIdentifier(object) == identity) \(change.oldValue == nil) \(change.newValue == nil)")
        },
        object.observe(\.optional, options: [.old, .new]) { [log] _, change in
          log.add("\(change.kind) \(change.oldValue! as Any) \(change.newValue! as Any) \(change.isPrior)")
        },
      ]
      object.optional = 5
      #expect(log.lines == ["setting nil Optional(5) false", "true true true"])
      withExtendedLifetime(tokens) {}
    }

    @Test func `300, 301: An observation lasts until its token is invalidated, also in the handler, or released`() {
      final class Holder: @unchecked Sendable { var token: NSKeyValueObservation? }
      let holder = Holder()
      holder.token = object.observe(\.optional) { [log] _, _ in
        log.add("told")
        holder.token?.invalidate()
        holder.token?.invalidate()
      }
      object.optional = 1
      object.optional = 2
      #expect(log.take() == ["told"])
      holder.token = object.observe(\.optional) { [log] _, _ in log.add("told") }
      object.optional = 3
      holder.token = nil
      object.optional = 4
      #expect(log.take() == ["told"])
    }

    @Test func `302, 303, 314: The token does not retain the object, and either may be released first`() {
      weak var gone: Typed?
      var token: NSKeyValueObservation?
      let raised = codes {
        do {
          let object = Typed()
          gone = object
          token = object.observe(\.optional) { _, _ in }
        }
        #expect(gone == nil)
        token = nil
        let object = Typed()
        token = object.observe(\.optional) { _, _ in }
        token = nil
        object.optional = 1
      }
      #expect(raised == [] && token == nil)
    }

    @Test func `305: A key path that has no string form is observed like any other`() {
      let token = object.observe(\.list.count, options: [.old, .new]) { [log] _, change in
        log.add("\(change.oldValue!)>\(change.newValue!)")
      }
      object.list.append(7)
      #expect(log.lines == ["0>1"])
      token.invalidate()
    }

    @Test func `307: For an optional property nil is a present nil`() {
      let token = object.observe(\.optional, options: [.old, .new]) { [log] _, change in
        log.add("\(change.oldValue as Any) \(change.newValue as Any)")
      }
      object.optional = 1
      #expect(log.lines == ["Optional(nil) Optional(Optional(1))"])
      token.invalidate()
    }

    @Test func `308: Enums are delivered as themselves`() {
      let token = object.observe(\.mood, options: [.old, .new]) { [log] _, change in
        log.add("\(change.oldValue!)>\(change.newValue!)")
      }
      object.mood = .angry
      #expect(log.lines == ["calm>angry"])
      token.invalidate()
    }

    @Test func `309: Indexes are present in ordered changes only`() {
      let token = object.observe(\.list, options: [.new]) { [log] _, change in
        log.add("\(change.kind) \(change.indexes.map(Array.init) ?? [-1])")
      }
      object.list = [1]
      object.willChange(.insertion, valuesAt: [1], for: \.list)
      object.didChange(.insertion, valuesAt: [1], for: \.list)
      #expect(log.lines == ["setting [-1]", "insertion [1]"])
      token.invalidate()
    }

    @Test func `310: isPrior is true in prior notifications only`() {
      let token = object.observe(\.optional, options: [.prior]) { [log] _, change in log.add("\(change.isPrior)") }
      object.optional = 1
      #expect(log.lines == ["true", "false"])
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
      let token = object.observe(\.doubled, options: [.old, .new]) { [log] _, change in
        log.add("\(change.oldValue!)>\(change.newValue!)")
      }
      object.doubled = 1
      #expect(log.lines == ["0>1", "0>1"])
      token.invalidate()
    }

    @Test func `316: Every stored property notifies without an attribute, unless it has @NotObserved`() {
      let tokens = [
        object.observe(\.optional) { [log] _, _ in log.add("optional") },
        object.observe(\.plain) { [log] _, _ in log.add("plain") },
      ]
      object.optional = 1
      object.plain = 1
      #expect(log.lines == ["optional"])
      withExtendedLifetime(tokens) {}
    }
  }
#endif
