// A controller's observations with a method of the observer.

extension KeyValueObservationController {
  /// Observes a key path with a method of the observer that has no parameter.
  ///
  /// ```swift
  /// observations.observe(document, \.title, action: Panel.pagesChanged)
  /// ```
  /// A method of a class of the main actor or of another global actor is called on that actor, one of another class on the caller's. The
  /// rest is as with
  /// ``observe(_:_:options:duplicates:userInfo:isolation:fileID:line:handler:)-(_,KeyPath<Object,Value>,_,_,_,_,_,_,_)``.
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
    action: @escaping (Observer) -> @isolated(any) () -> Void
  ) {
    let method = Action(action).unchecked
    let ofMethod = observer.load().flatMap { action($0).isolation }
    observe(
      object, keyPath, options, duplicates, userInfo, on: ofMethod ?? isolation,
      SourceLocation(file: fileID, line: line)
    ) { observer, _, _ in method(observer)() }
  }

  /// Observes a key path with a method of the observer that has the change as its parameter.
  ///
  /// ```swift
  /// observations.observe(document, \.title, action: Panel.titleChanged)
  /// ```
  /// A method of a class of the main actor or of another global actor is called on that actor, one of another class on the caller's. The
  /// rest is as with
  /// ``observe(_:_:options:duplicates:userInfo:isolation:fileID:line:handler:)-(_,KeyPath<Object,Value>,_,_,_,_,_,_,_)``.
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
    action: @escaping (Observer) -> @isolated(any) (NSKeyValueObservedChange<Value>) -> Void
  ) {
    let method = ChangeAction(action).unchecked
    let ofMethod = observer.load().flatMap { action($0).isolation }
    observe(
      object, keyPath, options, duplicates, userInfo, on: ofMethod ?? isolation,
      SourceLocation(file: fileID, line: line)
    ) { observer, _, change in method(observer)(change) }
  }

  /// Observes a key path with a method of the observer that has the change and the object as its parameters.
  ///
  /// ```swift
  /// observations.observe(document, \.title, action: Panel.titleChanged)
  /// ```
  /// A method of a class of the main actor or of another global actor is called on that actor, one of another class on the caller's. The
  /// rest is as with
  /// ``observe(_:_:options:duplicates:userInfo:isolation:fileID:line:handler:)-(_,KeyPath<Object,Value>,_,_,_,_,_,_,_)``.
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
    action: @escaping (Observer) -> @isolated(any) (NSKeyValueObservedChange<Value>, Object) -> Void
  ) {
    let method = ObjectAction(action).unchecked
    let ofMethod = observer.load().flatMap { action($0).isolation }
    observe(
      object, keyPath, options, duplicates, userInfo, on: ofMethod ?? isolation,
      SourceLocation(file: fileID, line: line)
    ) { observer, object, change in method(observer)(change, object) }
  }

  /// Observes a string key path with a method of the observer that has no parameter.
  ///
  /// ```swift
  /// observations.observe(document, "title", action: Panel.pagesChanged)
  /// ```
  /// A method of a class of the main actor or of another global actor is called on that actor, one of another class on the caller's. The
  /// rest is as with
  /// ``observe(_:_:options:duplicates:userInfo:isolation:fileID:line:handler:)-(_,KeyPath<Object,Value>,_,_,_,_,_,_,_)``.
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
    action: @escaping (Observer) -> @isolated(any) () -> Void
  ) {
    let method = Action(action).unchecked
    let ofMethod = observer.load().flatMap { action($0).isolation }
    observe(
      object, keyPath, options, duplicates, userInfo, on: ofMethod ?? isolation,
      SourceLocation(file: fileID, line: line)
    ) { observer, _, _ in method(observer)() }
  }

  /// Observes a string key path with a method of the observer that has the change as its parameter.
  ///
  /// ```swift
  /// observations.observe(document, "title", action: Panel.titleChanged)
  /// ```
  /// A method of a class of the main actor or of another global actor is called on that actor, one of another class on the caller's. The
  /// rest is as with
  /// ``observe(_:_:options:duplicates:userInfo:isolation:fileID:line:handler:)-(_,KeyPath<Object,Value>,_,_,_,_,_,_,_)``.
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
    action: @escaping (Observer) -> @isolated(any) (NSKeyValueObservedChange<Any>) -> Void
  ) {
    let method = ChangeAction(action).unchecked
    let ofMethod = observer.load().flatMap { action($0).isolation }
    observe(
      object, keyPath, options, duplicates, userInfo, on: ofMethod ?? isolation,
      SourceLocation(file: fileID, line: line)
    ) { observer, _, change in method(observer)(change) }
  }

  /// Observes a string key path with a method of the observer that has the change and the object as its parameters.
  ///
  /// ```swift
  /// observations.observe(document, "title", action: Panel.titleChanged)
  /// ```
  /// A method of a class of the main actor or of another global actor is called on that actor, one of another class on the caller's. The
  /// rest is as with
  /// ``observe(_:_:options:duplicates:userInfo:isolation:fileID:line:handler:)-(_,KeyPath<Object,Value>,_,_,_,_,_,_,_)``.
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
    action: @escaping (Observer) -> @isolated(any) (NSKeyValueObservedChange<Any>, Object) -> Void
  ) {
    let method = ObjectAction(action).unchecked
    let ofMethod = observer.load().flatMap { action($0).isolation }
    observe(
      object, keyPath, options, duplicates, userInfo, on: ofMethod ?? isolation,
      SourceLocation(file: fileID, line: line)
    ) { observer, object, change in method(observer)(change, object) }
  }
}

// Conversions as in `ChangeHandler`. A method that is not bound to an instance has no isolation at run time; one that is bound has that
// of its class.

private struct Action<Observer: AnyObject> {
  let method: (Observer) -> @isolated(any) () -> Void

  init(_ method: @escaping (Observer) -> @isolated(any) () -> Void) { self.method = method }

  var unchecked: (Observer) -> () -> Void { unsafeBitCast(self, to: Unchecked.self).method }

  struct Unchecked {
    let method: (Observer) -> () -> Void
  }
}

private struct ChangeAction<Observer: AnyObject, Value> {
  let method: (Observer) -> @isolated(any) (NSKeyValueObservedChange<Value>) -> Void

  init(_ method: @escaping (Observer) -> @isolated(any) (NSKeyValueObservedChange<Value>) -> Void) {
    self.method = method
  }

  var unchecked: (Observer) -> (NSKeyValueObservedChange<Value>) -> Void {
    unsafeBitCast(self, to: Unchecked.self).method
  }

  struct Unchecked {
    let method: (Observer) -> (NSKeyValueObservedChange<Value>) -> Void
  }
}

private struct ObjectAction<Observer: AnyObject, Object: AnyObject, Value> {
  let method: (Observer) -> @isolated(any) (NSKeyValueObservedChange<Value>, Object) -> Void

  init(_ method: @escaping (Observer) -> @isolated(any) (NSKeyValueObservedChange<Value>, Object) -> Void) {
    self.method = method
  }

  var unchecked: (Observer) -> (NSKeyValueObservedChange<Value>, Object) -> Void {
    unsafeBitCast(self, to: Unchecked.self).method
  }

  struct Unchecked {
    let method: (Observer) -> (NSKeyValueObservedChange<Value>, Object) -> Void
  }
}
