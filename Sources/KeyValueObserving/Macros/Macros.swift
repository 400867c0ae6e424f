// The public macros. They need the trait `Macros`, because their plug-in depends on swift-syntax.
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
  /// The class keeps its superclass, if any, and its initializers. `willSet` and `didSet` keep working, and so does synthesized
  /// `Codable`, with each property under its own name. The macro moves the value of each stored `var` to a private stored property,
  /// `_title` for `title`, and adds a hidden header, `_$kvo`, that links the object to its observers.
  ///
  /// A computed property such as `summary` needs no attribute: the runtime records what its getter reads.
  ///
  /// A subclass of an observable class needs `@KeyValueObservable` for the stored properties that it adds.
  ///
  /// A class with its own coding keys has to declare them, and its conformance to `Codable`, in the class body rather than in an
  /// extension. Its `init(from:)` is then in the class, so that Swift adds no `init()`. The macro adds it if the inheritance clause begins
  /// with `Codable` or another protocol of the standard library, and each property has a value or is an optional `var`. Otherwise, as in
  /// a subclass of `NSObject`, write it: `override init() {}`.
  @attached(
    member, conformances: _KeyValueObservableClass, _KeyValueOperation, Encodable, Decodable,
    names: named(_$kvo), named(__keyValueObject), named(__keyValueProperties), prefixed(__describeOwn),
    named(__describeKeyValueProperties), named(automaticallyNotifiesObservers),
    named(keyPathsForValuesAffectingValue), named(accessInstanceVariablesDirectly), named(value(forKey:)),
    named(setValue(_:forKey:)), named(value(forUndefinedKey:)), named(setValue(_:forUndefinedKey:)),
    named(setNilValueForKey), named(validateValue(_:forKey:)), named(observationInfo), named(willChangeValue),
    named(didChangeValue), named(__willChangeValue), named(__didChangeValue), named(_$kvoQueue), named(isReady),
    named(CodingKeys), named(init), named(encode(to:)))
  @attached(memberAttribute)
  @attached(extension, conformances: KeyValueObservable, _KeyValueObservableClass)
  public macro KeyValueObservable() =
    #externalMacro(module: "KeyValueObservingMacros", type: "KeyValueObservableMacro")

  /// Excludes a stored property of an observable class from observation: its setter does not notify.
  ///
  /// ```swift
  /// @KeyValueObservable
  /// final class Thumbnail {
  ///   var url = ""
  ///   @NotObserved lazy var renderer = Renderer()
  /// }
  /// ```
  ///
  /// In an `#if` it counts whatever the condition: a macro cannot evaluate `canImport`. A property that is observed on some platforms only
  /// is declared twice, in an `#if` and its `#else`.
  ///
  /// The property can still be read and set by key. `setValue(_:forKey:)` notifies, as on Apple's platforms for an instance
  /// variable without a setter.
  @attached(peer)
  public macro NotObserved() = #externalMacro(module: "KeyValueObservingMacros", type: "NotObservedMacro")

  /// Generates accessors that notify for a stored property. ``KeyValueObservable()`` adds this attribute to each property that it
  /// observes.
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
