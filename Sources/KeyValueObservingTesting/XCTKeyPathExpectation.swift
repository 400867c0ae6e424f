// XCTest's expectation of changes of a typed key path, which XCTest on Linux lacks.

#if canImport(XCTest)
  public import KeyValueObserving
  public import XCTest

  /// An expectation that a change of a typed key path fulfills, as Apple's class of this name.
  ///
  /// ```swift
  /// let expectation = XCTKeyPathExpectation(keyPath: \Document.pages, observedObject: document) { _, change in
  ///   change.newValue! > 100
  /// }
  /// load(document)
  /// wait(for: [expectation], timeout: 1)
  /// ```
  /// It observes from its creation until it has been fulfilled as often as `expectedFulfillmentCount` says, or is released. Changes of all
  /// threads count. As on Apple's platforms, it retains the object.
  public final class XCTKeyPathExpectation<T: KeyValueObservable, V>: XCTestExpectation, @unchecked Sendable {
    /// A closure that says whether a change fulfills the expectation, called on the thread that makes the change.
    public typealias Predicate = @Sendable (_ observedObject: T, _ change: NSKeyValueObservedChange<V>) -> Bool

    /// The observed key path.
    public let keyPath: KeyPath<T, V>
    /// The observed object.
    public let observedObject: T
    /// The options of the observation.
    public let options: NSKeyValueObservingOptions

    private let fulfiller = Fulfiller()

    private init(
      _ object: T, _ keyPath: KeyPath<T, V>, _ options: NSKeyValueObservingOptions, _ expectedValue: V?,
      _ file: StaticString, _ line: Int, _ decide: @escaping (T, NSKeyValueObservedChange<V>) -> Bool
    ) {
      self.keyPath = keyPath
      observedObject = object
      self.options = options
      let name = nameOfObserved(keyPath, of: object)
      super.init(description: describe(name, of: object, expectedValue), file: file, line: line)
      fulfiller.begin(for: self, object, keyPath, options, file: file, line: line, decide)
    }

    /// Creates an expectation that a change fulfills for which a predicate returns `true`.
    ///
    /// - Parameters:
    ///   - keyPath: What to observe.
    ///   - observedObject: The object to observe.
    ///   - options: What the change includes; with `.initial` the predicate is called now, too.
    ///   - predicate: Decides. Without one the first change fulfills the expectation: with `.initial`, the initial one.
    public convenience init(
      keyPath: KeyPath<T, V>, observedObject: T, options: NSKeyValueObservingOptions = [.initial, .new, .old],
      predicate: Predicate? = nil, file: StaticString = #file, line: Int = #line
    ) {
      self.init(observedObject, keyPath, options, nil, file, line) { predicate?($0, $1) ?? true }
    }

    /// Creates an expectation that a change to a value fulfills; with `.initial`, also that the object has the value already.
    ///
    /// - Parameters:
    ///   - keyPath: What to observe.
    ///   - observedObject: The object to observe.
    ///   - options: The options of the observation. To compare, `.new` is added.
    ///   - expectedValue: The value.
    public convenience init(
      keyPath: KeyPath<T, V>, observedObject: T, options: NSKeyValueObservingOptions = [.initial, .new, .old],
      expectedValue: V, file: StaticString = #file, line: Int = #line
    ) where V: Equatable {
      self.init(observedObject, keyPath, options.union(.new), expectedValue, file, line) {
        $1.leads(to: expectedValue, $0[keyPath: keyPath])
      }
    }

    deinit { fulfiller.end() }
  }

  extension NSKeyValueObservedChange where Value: Equatable {
    /// Whether the property has the value after the change. A change of elements has only these, so the present value counts then.
    fileprivate func leads(to expected: Value, _ present: @autoclosure () -> Value) -> Bool {
      kind == .setting ? newValue == expected : !isPrior && present() == expected
    }
  }

  extension XCTestCase {
    /// Creates an expectation that a change of a key path to a value fulfills; with `.initial`, also that it has the value already.
    ///
    /// As on Apple's platforms, `waitForExpectations(timeout:)` waits for it, and it retains the object. It observes until it is fulfilled,
    /// at most until the end of the test.
    ///
    /// - Returns: The expectation, which belongs to the test case. On Apple's platforms it is an ``XCTKeyPathExpectation``.
    public func expectation<T: KeyValueObservable, V: Equatable>(
      that keyPath: KeyPath<T, V>, on observedObject: T,
      options: NSKeyValueObservingOptions = [.initial, .new, .old], willEqual expectedValue: V,
      file: StaticString = #file, line: Int = #line
    ) -> XCTestExpectation {
      expectation(observedObject, keyPath, options.union(.new), expectedValue, file, line) {
        $1.leads(to: expectedValue, $0[keyPath: keyPath])
      }
    }

    /// Creates an expectation that a change fulfills for which a predicate returns `true`.
    ///
    /// - Returns: The expectation, which belongs to the test case. See ``expectation(that:on:options:willEqual:file:line:)``.
    public func expectation<T: KeyValueObservable, V>(
      that keyPath: KeyPath<T, V>, on observedObject: T,
      options: NSKeyValueObservingOptions = [.initial, .new, .old],
      willSatisfy predicate: XCTKeyPathExpectation<T, V>.Predicate? = nil, file: StaticString = #file, line: Int = #line
    ) -> XCTestExpectation {
      expectation(observedObject, keyPath, options, nil, file, line) { predicate?($0, $1) ?? true }
    }

    private func expectation<T: KeyValueObservable, V>(
      _ object: T, _ keyPath: KeyPath<T, V>, _ options: NSKeyValueObservingOptions, _ expectedValue: V?,
      _ file: StaticString, _ line: Int, _ decide: @escaping (T, NSKeyValueObservedChange<V>) -> Bool
    ) -> XCTestExpectation {
      let name = nameOfObserved(keyPath, of: object)
      let made = expectation(description: describe(name, of: object, expectedValue), file: file, line: line)
      let fulfiller = Fulfiller()
      fulfiller.begin(for: made, object, keyPath, options, file: file, line: line, decide)
      addTeardownBlock { fulfiller.end() }
      return made
    }
  }

  extension Fulfiller {
    fileprivate func begin<T: KeyValueObservable, V>(
      for expectation: XCTestExpectation, _ object: T, _ keyPath: KeyPath<T, V>, _ options: NSKeyValueObservingOptions,
      file: StaticString, line: Int, _ decide: @escaping (T, NSKeyValueObservedChange<V>) -> Bool
    ) {
      nonisolated(unsafe) let decide = decide
      observes(for: expectation) {
        let token = object.observe(keyPath, options: options, fileID: file, line: UInt(clamping: line)) {
          [weak self] object, change in
          if decide(object, change) { self?.fulfill() }
        }
        return token.invalidate
      }
    }
  }
#endif
