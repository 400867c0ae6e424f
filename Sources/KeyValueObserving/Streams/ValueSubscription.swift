// The subscription of one subscriber to the values of an observation. It needs the trait `OpenCombine`.
#if OpenCombine
  import Foundation
  import OpenCombine

  /// Hands the values of an observation to a subscriber, as far as there is demand.
  ///
  /// The subscriber is called by one thread at a time, with no lock held. A value that another thread sends meanwhile is delivered by the
  /// thread that is calling; one that the subscriber itself causes is delivered at once, as a nested call.
  final class ValueSubscription<Value>: Subscription, @unchecked Sendable {
    private enum Event {
      case value(Value)
      case completion
      /// Look whether the first value can be delivered.
      case demand
    }

    private struct State {
      /// Released at the end.
      var subscriber: AnySubscriber<Value, Never>?
      var demand = Subscribers.Demand.none
      /// Whether the first value waits for demand.
      var keepsFirst: Bool
      var first: Value?
      /// The thread that calls the subscriber, or 0, and how many of its calls are nested.
      var caller: UInt = 0
      var depth = 0
      /// What other threads have sent meanwhile.
      var events: [Event] = []
      var observation: NSKeyValueObservation?
    }

    private let state: Guarded<State>

    /// Observes, and hands the subscription to the subscriber.
    static func begin(
      _ subscriber: AnySubscriber<Value, Never>, to source: KeyValueSource<Value>, _ options: NSKeyValueObservingOptions
    ) {
      let subscription = ValueSubscription(subscriber, keepsFirst: options.contains(.initial))
      let base = options.union(.newValue(of: Value.self)).union(options.contains(.prior) ? .old : [])
      let site = SourceLocation(file: #fileID, line: #line)
      let description = ObserverDescription(receiver: nil, note: "publisher")
      let observations = source.register(base, site, description) { [weak subscription] change in
        if let value = change.isPrior ? change.oldValue : change.newValue { subscription?.handle(.value(value)) }
      }
      let observation = NSKeyValueObservation.keeping(observations)
      subscription.state.withLock { $0.observation = observation }
      subscriber.receive(subscription: subscription)
      observation.onEnd { [weak subscription] _ in subscription?.handle(.completion) }
    }

    private init(_ subscriber: AnySubscriber<Value, Never>, keepsFirst: Bool) {
      state = Guarded(State(subscriber: subscriber, keepsFirst: keepsFirst))
    }

    func request(_ demand: Subscribers.Demand) {
      state.withLock { $0.demand += demand }
      handle(.demand)
    }

    func cancel() {
      // What is released here runs code of the program.
      let ended = state.withLock { state in
        defer {
          (state.subscriber, state.first, state.observation) = (nil, nil, nil)
          state.events = []
        }
        return state
      }
      ended.observation?.invalidate()
    }

    /// Handles an event now, or leaves it to the thread that is calling the subscriber.
    private func handle(_ event: Event) {
      let thread = UInt(pthread_self())
      let isMine = state.withLock { state in
        guard state.caller == 0 || state.caller == thread else {
          state.events.append(event)
          return false
        }
        state.caller = thread
        state.depth += 1
        return true
      }
      var next: Event? = isMine ? event : nil
      while let event = next {
        deliver(event)
        next = state.withLock { state in
          if state.depth == 1, !state.events.isEmpty { return state.events.removeFirst() }
          state.depth -= 1
          if state.depth == 0 { state.caller = 0 }
          return nil
        }
      }
    }

    private func deliver(_ event: Event) {
      switch event {
      case .completion:
        let subscriber = state.withLock { $0.subscriber.take() }
        cancel()
        subscriber?.receive(completion: .finished)
      case .value(let value):
        let subscriber = state.withLock { state -> AnySubscriber<Value, Never>? in
          let keeps = state.keepsFirst
          state.keepsFirst = false
          if state.demand > 0 {
            state.demand -= state.subscriber == nil ? 0 : 1
            return state.subscriber
          }
          if keeps, state.subscriber != nil { state.first = value }
          return nil
        }
        if let subscriber { add(subscriber.receive(value)) }
      case .demand:
        let (subscriber, value) = state.withLock { state -> (AnySubscriber<Value, Never>?, Value?) in
          guard state.demand > 0, let value = state.first.take() else { return (nil, nil) }
          state.demand -= 1
          return (state.subscriber, value)
        }
        if let subscriber, let value { add(subscriber.receive(value)) }
      }
    }

    private func add(_ demand: Subscribers.Demand) { state.withLock { $0.demand += demand } }
  }

  extension ValueSubscription: CustomStringConvertible {
    /// As on Apple's platforms.
    var description: String { "KVOSubscription" }
  }
#endif
