// The public macros. They are behind the trait `Macros`, for their plug-in needs swift-syntax.
#if Macros
  /// Makes every stored property of a class observable.
  ///
  /// ```swift
  /// @KeyValueObservable
  /// final class Document {
  ///   var title = ""
  ///   var author: Person?
  ///   @NotObserved var cache = 0
  ///   var summary: String { "\(title) by \(author?.name ?? "?")" }
  /// }
  /// ```
  ///
  /// The class keeps its superclass, if any, and its initializers; `willSet` and `didSet` keep working, and so does
  /// synthesised `Codable`, in which each property keeps its name. Each stored `var` moves its value to a private
  /// storage, named `_title` for `title`, and a hidden word of the object, `_$kvo`, links the object to its observers.
  ///
  /// A computed property such as `summary` needs no mark: observers of it learn what it reads.
  ///
  /// A subclass of an observable class needs `@KeyValueObservable` for the stored properties that it adds.
  ///
  /// A class with coding keys of its own declares them, and `Codable`, in the class itself rather than in an extension.
  @attached(
    member, conformances: _KeyValueObservableClass, _KeyValueOperation, Encodable, Decodable,
    names: named(_$kvo), named(__keyValueObject), named(__keyValueProperties), prefixed(__describeOwn),
    named(__describeKeyValueProperties), named(automaticallyNotifiesObservers),
    named(keyPathsForValuesAffectingValue), named(accessInstanceVariablesDirectly), named(value(forKey:)),
    named(setValue(_:forKey:)), named(value(forUndefinedKey:)), named(setValue(_:forUndefinedKey:)),
    named(setNilValueForKey), named(validateValue(_:forKey:)), named(observationInfo), named(willChangeValue),
    named(didChangeValue), named(__willChangeValue), named(__didChangeValue), named(_$kvoQueue), named(isReady),
    named(CodingKeys), named(init(from:)), named(encode(to:)))
  @attached(memberAttribute)
  @attached(extension, conformances: KeyValueObservable, _KeyValueObservableClass)
  public macro KeyValueObservable() =
    #externalMacro(module: "KeyValueObservingMacros", type: "KeyValueObservableMacro")

  /// Leaves a stored property of an observable class as it is: setting it notifies no one, unless it is set by its key.
  ///
  /// ```swift
  /// @KeyValueObservable
  /// final class Thumbnail {
  ///   var url = ""
  ///   @NotObserved lazy var renderer = Renderer()
  /// }
  /// ```
  ///
  /// The property can still be read by its key, and set by it: `setValue(_:forKey:)` announces the change, as it does on Apple's
  /// platforms where there is no setter that would.
  @attached(peer)
  public macro NotObserved() = #externalMacro(module: "KeyValueObservingMacros", type: "NotObservedMacro")

  /// Gives a stored property accessors that notify; ``KeyValueObservable()`` puts it on each property that it observes.
  ///
  /// ```swift
  /// @KeyValueObservable
  /// final class Song {
  ///   @_KeyValueObserved var title = ""  // the same as without
  /// }
  /// ```
  @attached(accessor, names: named(init), named(get), named(set), named(_modify))
  @attached(peer, names: prefixed(_))
  public macro _KeyValueObserved() =
    #externalMacro(module: "KeyValueObservingMacros", type: "KeyValueObservedMacro")

  extension KeyValueObject: _KeyValueObservableClass {}
#endif
