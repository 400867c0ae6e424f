// A controller's observations of several key paths at once.

extension KeyValueObservationController {
  /// Observes several key paths of an object with one closure, which is told the key path.
  ///
  /// ```swift
  /// observations.observe(document, \.title, \.pages, options: [.new]) { me, document, keyPath, change in
  ///   if keyPath == \Document.title { me.caption = change.newValue as? String ?? "" }
  /// }
  /// ```
  /// See ``observe(_:_:options:duplicates:userInfo:isolation:fileID:line:handler:)-(_,KeyPath<Object,Value>,_,_,_,_,_,_,_)``.
  /// Each key path is an observation of its own, which can be unobserved alone; the changes of one key path arrive in order.
  public func observe<Object: KeyValueObservable, A, B, each Value>(
    _ object: Object, _ first: KeyPath<Object, A>, _ second: KeyPath<Object, B>,
    _ others: repeat KeyPath<Object, each Value>, options: NSKeyValueObservingOptions = [],
    duplicates: Duplicates? = nil, userInfo: (any Sendable)? = nil, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping (Observer, Object, PartialKeyPath<Object>, NSKeyValueObservedChange<Any>) -> Void
  ) {
    let site = SourceLocation(file: fileID, line: line)
    func add<Each>(_ keyPath: KeyPath<Object, Each>) {
      observe(object, keyPath, options, duplicates, userInfo, on: isolation, site) { observer, object, change in
        handler(observer, object, keyPath, change.erased)
      }
    }
    add(first)
    add(second)
    repeat add(each others)
  }

  /// Observes several key paths of an object with one closure.
  ///
  /// ```swift
  /// observations.observe(document, \.title, \.pages) { me, document, change in me.update(document) }
  /// ```
  /// See ``observe(_:_:options:duplicates:userInfo:isolation:fileID:line:handler:)-(_,KeyPath<Object,Value>,_,_,_,_,_,_,_)``.
  /// Each key path is an observation of its own, which can be unobserved alone; the changes of one key path arrive in order.
  public func observe<Object: KeyValueObservable, A, B, each Value>(
    _ object: Object, _ first: KeyPath<Object, A>, _ second: KeyPath<Object, B>,
    _ others: repeat KeyPath<Object, each Value>, options: NSKeyValueObservingOptions = [],
    duplicates: Duplicates? = nil, userInfo: (any Sendable)? = nil, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping (Observer, Object, NSKeyValueObservedChange<Any>) -> Void
  ) {
    observe(
      object, first, second, repeat each others, options: options, duplicates: duplicates, userInfo: userInfo,
      isolation: isolation, fileID: fileID, line: line
    ) { observer, object, _, change in handler(observer, object, change) }
  }

  /// Observes several string key paths of an object with one closure, which is told the key path.
  ///
  /// ```swift
  /// observations.observe(document, ["title", "author.name"]) { me, document, keyPath, change in print(keyPath) }
  /// ```
  /// See ``observe(_:_:options:duplicates:userInfo:isolation:fileID:line:handler:)-(_,KeyPath<Object,Value>,_,_,_,_,_,_,_)``.
  /// Each key path is an observation of its own, which can be unobserved alone; the changes of one key path arrive in order.
  public func observe<Object: KeyValueObservable>(
    _ object: Object, _ keyPaths: [String], options: NSKeyValueObservingOptions = [],
    duplicates: Duplicates? = nil, userInfo: (any Sendable)? = nil, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping (Observer, Object, String, NSKeyValueObservedChange<Any>) -> Void
  ) {
    let site = SourceLocation(file: fileID, line: line)
    for keyPath in keyPaths {
      observe(object, keyPath, options, duplicates, userInfo, on: isolation, site) { observer, object, change in
        handler(observer, object, keyPath, change)
      }
    }
  }

  /// Observes several string key paths of an object with one closure.
  ///
  /// ```swift
  /// observations.observe(document, ["title", "author.name"]) { me, document, change in me.update(document) }
  /// ```
  /// See ``observe(_:_:options:duplicates:userInfo:isolation:fileID:line:handler:)-(_,KeyPath<Object,Value>,_,_,_,_,_,_,_)``.
  /// Each key path is an observation of its own, which can be unobserved alone; the changes of one key path arrive in order.
  public func observe<Object: KeyValueObservable>(
    _ object: Object, _ keyPaths: [String], options: NSKeyValueObservingOptions = [],
    duplicates: Duplicates? = nil, userInfo: (any Sendable)? = nil, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping (Observer, Object, NSKeyValueObservedChange<Any>) -> Void
  ) {
    observe(
      object, keyPaths, options: options, duplicates: duplicates, userInfo: userInfo, isolation: isolation,
      fileID: fileID, line: line
    ) { observer, object, _, change in handler(observer, object, change) }
  }
}
