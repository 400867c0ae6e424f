// A controller's observations with a method of the observer.

extension KeyValueObservationController {
  /// Observes a key path with a method of the observer that has no parameter.
  ///
  /// ```swift
  /// observations.observe(document, \.title, action: Panel.pagesChanged)
  /// ```
  /// Isolation and threads are those of ``observe(_:_:options:duplicates:userInfo:isolation:fileID:line:handler:)``.
  ///
  /// - Parameters:
  ///   - object: What to observe. It is not retained unless the controller does.
  ///   - keyPath: As in ``KeyValueObservable/observe(_:options:fileID:line:changeHandler:)``.
  ///   - options: Which values a change includes, and whether the method is also called now and before changes.
  ///   - duplicates: What to do if the controller already observes the key path of the object; by default what it was created with.
  ///   - userInfo: Anything that reports and the graph show with the observation.
  ///   - action: The method, as `Class.method`.
  public func observe<Object: KeyValueObservable, Value>(
    _ object: Object, _ keyPath: KeyPath<Object, Value>, options: NSKeyValueObservingOptions = [],
    duplicates: Duplicates? = nil, userInfo: (any Sendable)? = nil, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line,
    action: @escaping @isolated(any) (Observer) -> () -> Void
  ) {
    let method = IsolatedMethod(action).unchecked
    observe(
      object, keyPath, options, duplicates, userInfo, on: action.isolation ?? isolation,
      SourceLocation(file: fileID, line: line)
    ) { observer, _, _ in method(observer)() }
  }

  /// Observes a key path with a method of the observer that has the change as its parameter.
  ///
  /// ```swift
  /// observations.observe(document, \.title, action: Panel.titleChanged)
  /// ```
  /// Isolation and threads are those of ``observe(_:_:options:duplicates:userInfo:isolation:fileID:line:handler:)``.
  ///
  /// - Parameters:
  ///   - object: What to observe. It is not retained unless the controller does.
  ///   - keyPath: As in ``KeyValueObservable/observe(_:options:fileID:line:changeHandler:)``.
  ///   - options: Which values a change includes, and whether the method is also called now and before changes.
  ///   - duplicates: What to do if the controller already observes the key path of the object; by default what it was created with.
  ///   - userInfo: Anything that reports and the graph show with the observation.
  ///   - action: The method, as `Class.method`.
  public func observe<Object: KeyValueObservable, Value>(
    _ object: Object, _ keyPath: KeyPath<Object, Value>, options: NSKeyValueObservingOptions = [],
    duplicates: Duplicates? = nil, userInfo: (any Sendable)? = nil, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line,
    action: @escaping @isolated(any) (Observer) -> (NSKeyValueObservedChange<Value>) -> Void
  ) {
    let method = IsolatedMethod(action).unchecked
    observe(
      object, keyPath, options, duplicates, userInfo, on: action.isolation ?? isolation,
      SourceLocation(file: fileID, line: line)
    ) { observer, _, change in method(observer)(change) }
  }

  /// Observes a key path with a method of the observer that has the change and the object as its parameters.
  ///
  /// ```swift
  /// observations.observe(document, \.title, action: Panel.titleChanged)
  /// ```
  /// Isolation and threads are those of ``observe(_:_:options:duplicates:userInfo:isolation:fileID:line:handler:)``.
  ///
  /// - Parameters:
  ///   - object: What to observe. It is not retained unless the controller does.
  ///   - keyPath: As in ``KeyValueObservable/observe(_:options:fileID:line:changeHandler:)``.
  ///   - options: Which values a change includes, and whether the method is also called now and before changes.
  ///   - duplicates: What to do if the controller already observes the key path of the object; by default what it was created with.
  ///   - userInfo: Anything that reports and the graph show with the observation.
  ///   - action: The method, as `Class.method`.
  public func observe<Object: KeyValueObservable, Value>(
    _ object: Object, _ keyPath: KeyPath<Object, Value>, options: NSKeyValueObservingOptions = [],
    duplicates: Duplicates? = nil, userInfo: (any Sendable)? = nil, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line,
    action: @escaping @isolated(any) (Observer) -> (NSKeyValueObservedChange<Value>, Object) -> Void
  ) {
    let method = IsolatedMethod(action).unchecked
    observe(
      object, keyPath, options, duplicates, userInfo, on: action.isolation ?? isolation,
      SourceLocation(file: fileID, line: line)
    ) { observer, object, change in method(observer)(change, object) }
  }

  /// Observes a string key path with a method of the observer that has no parameter.
  ///
  /// ```swift
  /// observations.observe(document, "title", action: Panel.pagesChanged)
  /// ```
  /// Isolation and threads are those of ``observe(_:_:options:duplicates:userInfo:isolation:fileID:line:handler:)``.
  ///
  /// - Parameters:
  ///   - object: What to observe. It is not retained unless the controller does.
  ///   - keyPath: As in ``KeyValueObservable/addObserver(_:forKeyPath:options:context:userInfo:fileID:line:)``.
  ///   - options: Which values a change includes, and whether the method is also called now and before changes.
  ///   - duplicates: What to do if the controller already observes the key path of the object; by default what it was created with.
  ///   - userInfo: Anything that reports and the graph show with the observation.
  ///   - action: The method, as `Class.method`.
  public func observe<Object: KeyValueObservable>(
    _ object: Object, _ keyPath: String, options: NSKeyValueObservingOptions = [],
    duplicates: Duplicates? = nil, userInfo: (any Sendable)? = nil, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line,
    action: @escaping @isolated(any) (Observer) -> () -> Void
  ) {
    let method = IsolatedMethod(action).unchecked
    observe(
      object, keyPath, options, duplicates, userInfo, on: action.isolation ?? isolation,
      SourceLocation(file: fileID, line: line)
    ) { observer, _, _ in method(observer)() }
  }

  /// Observes a string key path with a method of the observer that has the change as its parameter.
  ///
  /// ```swift
  /// observations.observe(document, "title", action: Panel.titleChanged)
  /// ```
  /// Isolation and threads are those of ``observe(_:_:options:duplicates:userInfo:isolation:fileID:line:handler:)``.
  ///
  /// - Parameters:
  ///   - object: What to observe. It is not retained unless the controller does.
  ///   - keyPath: As in ``KeyValueObservable/addObserver(_:forKeyPath:options:context:userInfo:fileID:line:)``.
  ///   - options: Which values a change includes, and whether the method is also called now and before changes.
  ///   - duplicates: What to do if the controller already observes the key path of the object; by default what it was created with.
  ///   - userInfo: Anything that reports and the graph show with the observation.
  ///   - action: The method, as `Class.method`.
  public func observe<Object: KeyValueObservable>(
    _ object: Object, _ keyPath: String, options: NSKeyValueObservingOptions = [],
    duplicates: Duplicates? = nil, userInfo: (any Sendable)? = nil, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line,
    action: @escaping @isolated(any) (Observer) -> (NSKeyValueObservedChange<Any>) -> Void
  ) {
    let method = IsolatedMethod(action).unchecked
    observe(
      object, keyPath, options, duplicates, userInfo, on: action.isolation ?? isolation,
      SourceLocation(file: fileID, line: line)
    ) { observer, _, change in method(observer)(change) }
  }

  /// Observes a string key path with a method of the observer that has the change and the object as its parameters.
  ///
  /// ```swift
  /// observations.observe(document, "title", action: Panel.titleChanged)
  /// ```
  /// Isolation and threads are those of ``observe(_:_:options:duplicates:userInfo:isolation:fileID:line:handler:)``.
  ///
  /// - Parameters:
  ///   - object: What to observe. It is not retained unless the controller does.
  ///   - keyPath: As in ``KeyValueObservable/addObserver(_:forKeyPath:options:context:userInfo:fileID:line:)``.
  ///   - options: Which values a change includes, and whether the method is also called now and before changes.
  ///   - duplicates: What to do if the controller already observes the key path of the object; by default what it was created with.
  ///   - userInfo: Anything that reports and the graph show with the observation.
  ///   - action: The method, as `Class.method`.
  public func observe<Object: KeyValueObservable>(
    _ object: Object, _ keyPath: String, options: NSKeyValueObservingOptions = [],
    duplicates: Duplicates? = nil, userInfo: (any Sendable)? = nil, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line,
    action: @escaping @isolated(any) (Observer) -> (NSKeyValueObservedChange<Any>, Object) -> Void
  ) {
    let method = IsolatedMethod(action).unchecked
    observe(
      object, keyPath, options, duplicates, userInfo, on: action.isolation ?? isolation,
      SourceLocation(file: fileID, line: line)
    ) { observer, object, change in method(observer)(change, object) }
  }
}

/// A method of a class, with the isolation of the class: see `ChangeHandler`.
private struct IsolatedMethod<Object: AnyObject, Method> {
  let call: @isolated(any) (Object) -> Method

  init(_ call: @escaping @isolated(any) (Object) -> Method) { self.call = call }

  var unchecked: (Object) -> Method { unsafeBitCast(self, to: Unchecked.self).call }

  struct Unchecked {
    let call: (Object) -> Method
  }
}
