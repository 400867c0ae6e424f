// The publisher of a key path, as in Combine, for OpenCombine. It needs the trait `OpenCombine`.
#if OpenCombine
  public import Foundation
  public import OpenCombine

  extension KeyValueObservable {
    /// Returns a publisher of the values of a property or key path, as on Apple's platforms.
    ///
    /// ```swift
    /// document.publisher(for: \.title, options: [.initial]).sink { print($0) }.store(in: &subscriptions)
    /// ```
    /// See ``Foundation/NSObject/KeyValueObservingPublisher``.
    ///
    /// - Parameters:
    ///   - keyPath: What to observe.
    ///   - options: `.initial` to begin with the present value, `.prior` to have the old value too before each change,
    ///     ``NSKeyValueObservingOptions/distinct`` to leave out equal values.
    public nonisolated func publisher<Value>(
      for keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [.initial, .new]
    ) -> NSObject.KeyValueObservingPublisher<Self, Value> {
      NSObject.KeyValueObservingPublisher(object: self, keyPath: keyPath, options: options)
    }
  }

  extension NSObject {
    /// A publisher of the values of a key path.
    ///
    /// As on Apple's platforms the publisher retains the object and observes nothing. Each subscriber has an observation of its own, which
    /// does not retain the object, and gets the values on the thread that makes the change, before the setter returns. A value for which
    /// there is no demand is dropped; only the first one, with `.initial`, waits for the first demand.
    ///
    /// Our decisions: a subscription finishes when the object is deallocated. If several threads change the value at once, a subscriber is
    /// called by one of them at a time, which also delivers what the others change meanwhile. A demand always counts; in the source that
    /// Apple has published, one that finds no value waiting counts one less. Whole collections are sent, however they are changed.
    public struct KeyValueObservingPublisher<Subject: KeyValueObservable, Value>: Equatable {
      /// The observed object.
      public let object: Subject
      /// What is observed.
      public let keyPath: KeyPath<Subject, Value>
      /// The options of the observation.
      public let options: NSKeyValueObservingOptions

      /// Creates a publisher. See ``KeyValueObservable/publisher(for:options:)``.
      public init(object: Subject, keyPath: KeyPath<Subject, Value>, options: NSKeyValueObservingOptions) {
        self.object = object
        self.keyPath = keyPath
        self.options = options
      }

      /// Compares the objects by identity, and the key paths and options.
      public static func == (first: Self, second: Self) -> Bool {
        first.object === second.object && first.keyPath == second.keyPath && first.options == second.options
      }
    }
  }

  extension NSObject.KeyValueObservingPublisher: Publisher {
    /// The values.
    public typealias Output = Value
    /// It does not fail.
    public typealias Failure = Never

    /// Begins to observe for a subscriber.
    public func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Value, Downstream.Failure == Never {
      ValueSubscription.begin(AnySubscriber(subscriber), to: object.source(keyPath), options)
    }

    /// Returns a publisher that tells that the value has changed, without it.
    public func didChange() -> Publishers.Map<Self, Void> { map { _ in () } }
  }

  extension KeyValueSource {
    /// A publisher of the values of the source, beginning with the present one.
    public var publisher: KeyValueSourcePublisher<Value> { publisher() }

    /// Returns a publisher of the values of the source.
    ///
    /// - Parameter options: Those of ``KeyValueObservable/publisher(for:options:)``; `.prior` is refused unless the source is that of
    ///   one key path.
    public func publisher(options: NSKeyValueObservingOptions = [.initial, .new]) -> KeyValueSourcePublisher<Value> {
      KeyValueSourcePublisher(source: self, options: options)
    }
  }

  /// A publisher of the values of a source.
  ///
  /// Demand, threads and the end are those of ``Foundation/NSObject/KeyValueObservingPublisher``. It holds what the source holds.
  public struct KeyValueSourcePublisher<Value>: Publisher {
    /// The values.
    public typealias Output = Value
    /// It does not fail.
    public typealias Failure = Never

    let source: KeyValueSource<Value>
    let options: NSKeyValueObservingOptions

    /// Begins to observe for a subscriber.
    public func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Value, Downstream.Failure == Never {
      ValueSubscription.begin(AnySubscriber(subscriber), to: source, options)
    }
  }
#endif
