// XCTest's expectation of changes of a string key path, which XCTest on Linux lacks.

#if canImport(XCTest)
  import Foundation
  public import KeyValueObserving
  public import XCTest

  /// An expectation that a change of a string key path fulfills, as Apple's class of this name.
  ///
  /// ```swift
  /// let expectation = XCTKVOExpectation(keyPath: "title", object: document, expectedValue: "Emma")
  /// load(document)
  /// wait(for: [expectation], timeout: 1)
  /// ```
  /// It observes from its creation until it has been fulfilled as often as `expectedFulfillmentCount` says, or is released. Changes of all
  /// threads count. As on Apple's platforms, it retains the object.
  public final class XCTKVOExpectation: XCTestExpectation, @unchecked Sendable {
    /// A closure that says whether a change fulfills the expectation.
    ///
    /// It is passed the object and the change dictionary, whose keys are `NSKeyValueChangeKey`, on the thread that makes the change.
    public typealias Handler = @Sendable (_ observedObject: Any, _ change: [AnyHashable: Any]) -> Bool

    /// The observed key path.
    public let keyPath: String
    /// The observed object.
    public let observedObject: Any
    /// The value that fulfills the expectation; `nil` if any change does.
    public let expectedValue: Any?
    /// The options of the observation.
    public let options: NSKeyValueObservingOptions

    private let lock = NSLock()
    private var currentHandler: Handler?
    private let fulfiller = Fulfiller()

    /// Decides which changes fulfill the expectation. If it is set, the expected value is ignored.
    public var handler: Handler? {
      get { lock.withLock { currentHandler } }
      set { lock.withLock { currentHandler = newValue } }
    }

    /// Creates an expectation that a change to a value fulfills; with `.initial`, also that the object has the value already.
    ///
    /// Values are equal if `==` or, for objects that have none, identity says so; `NSNull` is nil. Of a change of elements these are
    /// compared.
    ///
    /// - Parameters:
    ///   - keyPath: What to observe, as for a classic observer.
    ///   - object: The object to observe.
    ///   - expectedValue: The value, or `nil` if any change fulfills the expectation.
    ///   - options: The options of the observation, with which the handler is called. To compare, `.new` is added.
    public init(
      keyPath: String, object: any KeyValueObservable, expectedValue: Any?, options: NSKeyValueObservingOptions = [],
      file: StaticString = #file, line: Int = #line
    ) {
      self.keyPath = keyPath
      observedObject = object
      self.expectedValue = expectedValue
      self.options = options
      super.init(description: describe(keyPath, of: object, expectedValue), file: file, line: line)
      fulfiller.begin(
        for: self, object, keyPath, expectedValue == nil ? options : options.union(.new), file: file, line: line
      ) { [weak self] object, change in
        guard let self else { return false }
        if let handler { return handler(object, change) }
        return expectedValue.map { isValue($0, in: change) } ?? true
      }
    }

    /// Creates an expectation that a change to a value fulfills, or that the object has the value already.
    ///
    /// The options are `.initial`, `.new` and `.old`. See ``init(keyPath:object:expectedValue:options:file:line:)``.
    public convenience init(
      keyPath: String, object: any KeyValueObservable, expectedValue: Any?, file: StaticString = #file,
      line: Int = #line
    ) {
      self.init(
        keyPath: keyPath, object: object, expectedValue: expectedValue, options: [.initial, .new, .old], file: file,
        line: line)
    }

    /// Creates an expectation that any change fulfills, or one that the handler selects.
    ///
    /// The options are `.new` and `.old`. See ``init(keyPath:object:expectedValue:options:file:line:)``.
    public convenience init(
      keyPath: String, object: any KeyValueObservable, file: StaticString = #file, line: Int = #line
    ) {
      self.init(
        keyPath: keyPath, object: object, expectedValue: nil, options: [.new, .old], file: file, line: line)
    }

    deinit { fulfiller.end() }
  }

  extension XCTestCase {
    /// Creates an expectation that a value fulfills: one to which a key path changes, or that it has already.
    ///
    /// As on Apple's platforms, `waitForExpectations(timeout:)` waits for it, and it retains the object. It observes until it is fulfilled,
    /// at most until the end of the test.
    ///
    /// - Parameters:
    ///   - objectToObserve: The object to observe.
    ///   - keyPath: What to observe, as for a classic observer.
    ///   - expectedValue: The value. With `nil` the first change fulfills the expectation.
    /// - Returns: The expectation, which belongs to the test case.
    public func keyValueObservingExpectation(
      for objectToObserve: any KeyValueObservable, keyPath: String, expectedValue: Any?, file: StaticString = #file,
      line: Int = #line
    ) -> XCTestExpectation {
      let options: NSKeyValueObservingOptions = expectedValue == nil ? [.new, .old] : [.initial, .new, .old]
      return expectation(for: objectToObserve, keyPath, expectedValue, options, file, line) { _, change in
        expectedValue.map { isValue($0, in: change) } ?? true
      }
    }

    /// Creates an expectation that a change fulfills for which a handler returns `true`.
    ///
    /// - Parameters:
    ///   - objectToObserve: The object to observe.
    ///   - keyPath: What to observe, as for a classic observer.
    ///   - handler: Called with the object and the change dictionary, which has the old and the new value, on the thread that makes the
    ///     change. Without a handler the first change fulfills the expectation.
    /// - Returns: The expectation, which belongs to the test case. See
    ///   ``keyValueObservingExpectation(for:keyPath:expectedValue:file:line:)``.
    public func keyValueObservingExpectation(
      for objectToObserve: any KeyValueObservable, keyPath: String, file: StaticString = #file, line: Int = #line,
      handler: XCTKVOExpectation.Handler? = nil
    ) -> XCTestExpectation {
      expectation(for: objectToObserve, keyPath, nil, [.new, .old], file, line) { object, change in
        handler?(object, change) ?? true
      }
    }

    private func expectation(
      for object: any KeyValueObservable, _ keyPath: String, _ expectedValue: Any?,
      _ options: NSKeyValueObservingOptions, _ file: StaticString, _ line: Int,
      _ decide: @escaping (Any, [AnyHashable: Any]) -> Bool
    ) -> XCTestExpectation {
      let made = expectation(description: describe(keyPath, of: object, expectedValue), file: file, line: line)
      let fulfiller = Fulfiller()
      fulfiller.begin(for: made, object, keyPath, options, file: file, line: line, decide)
      addTeardownBlock { fulfiller.end() }
      return made
    }
  }

  func describe(_ keyPath: String, of object: AnyObject, _ expectedValue: Any?) -> String {
    "\(keyPath) of \(name(of: object)) \(expectedValue.map { "has the value \(textOfValue($0))" } ?? "changes")"
  }

  private func isValue(_ expected: Any, in change: [AnyHashable: Any]) -> Bool {
    guard let new = change[NSKeyValueChangeKey.newKey] else { return false }
    // As hashable values, numbers of different types are equal, as Apple's `NSNumber` are.
    return isEqual(expected, new) || (expected as? AnyHashable).map { $0 == new as? AnyHashable } ?? false
  }

  /// Observes for an expectation, and fulfills it.
  final class Fulfiller: @unchecked Sendable {
    private weak var expectation: XCTestExpectation?
    private let lock = NSLock()
    private var count = 0
    private var hasEnded = false
    private var stop: (() -> Void)?

    /// Fulfills the expectation as often as it expects to be, and then ends the observation.
    func fulfill() {
      guard let expectation else { return }
      let left = lock.withLock {
        count += 1
        return expectation.expectedFulfillmentCount - count
      }
      if left == 0 { end() }  // before it is fulfilled: then nothing observes when the wait is over
      if left >= 0 { expectation.fulfill() }
    }

    /// Sets what ends the observation.
    func observes(for expectation: XCTestExpectation, register: () -> () -> Void) {
      self.expectation = expectation
      let stop = register()
      let isOver = lock.withLock {
        if !hasEnded { self.stop = stop }
        return hasEnded
      }
      if isOver { stop() }
    }

    func end() {
      let stop = lock.withLock {
        hasEnded = true
        defer { self.stop = nil }
        return self.stop
      }
      stop?()
    }

    func begin(
      for expectation: XCTestExpectation, _ object: any KeyValueObservable, _ keyPath: String,
      _ options: NSKeyValueObservingOptions, file: StaticString, line: Int,
      _ decide: @escaping (Any, [AnyHashable: Any]) -> Bool
    ) {
      observes(for: expectation) {
        let relay = Relay { [weak self] object, change in
          if decide(object, change) { self?.fulfill() }
        }
        object.addObserver(relay, forKeyPath: keyPath, options: options, fileID: file, line: UInt(clamping: line))
        return { object.removeObserver(relay) }
      }
    }
  }

  /// The classic observer of an expectation.
  private final class Relay: KeyValueObserver {
    private let tell: (Any, [AnyHashable: Any]) -> Void

    init(_ tell: @escaping (Any, [AnyHashable: Any]) -> Void) { self.tell = tell }

    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      guard let object, let change else { return }
      tell(object, Dictionary(uniqueKeysWithValues: change.map { ($0.key as AnyHashable, $0.value) }))
    }
  }
#endif
