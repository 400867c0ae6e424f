// The classes of Models.swift for a package without the macro, with handwritten accessors.
#if !Macros
  import Foundation
  import KeyValueObserving

  private let nameKey = KeyValueObservationHeader.key("name")
  private let ageKey = KeyValueObservationHeader.key("age")
  private let titleKey = KeyValueObservationHeader.key("title")
  private let isFavoriteKey = KeyValueObservationHeader.key("isFavorite")
  private let authorKey = KeyValueObservationHeader.key("author")
  private let reviewerKey = KeyValueObservationHeader.key("reviewer")
  private let pagesKey = KeyValueObservationHeader.key("pages")
  private let valueKey = KeyValueObservationHeader.key("value")

  class Person: KeyValueObservable {
    let _$kvo = KeyValueObservationHeader()
    var __keyValueObject: KeyValueObjectReference { _$kvo.reference }

    @exclusivity(unchecked) private var _name: String
    var name: String {
      get { _$kvo.isTracking ? _$kvo.tracked(self, nameKey, { self._name }) : _name }
      set { _$kvo.set(nameKey, { self.name }, { self._name = newValue }) }
    }

    @exclusivity(unchecked) private var _age: Int = 0
    var age: Int {
      get { _$kvo.isTracking ? _$kvo.tracked(self, ageKey, { self._age }) : _age }
      set { _$kvo.set(ageKey, { self.age }, { self._age = newValue }) }
    }

    init(name: String) { _name = name }

    class func __describeKeyValueProperties(_ description: KeyValueClassDescription) {
      description.observed("name", nameKey, \Person.name, \Person?.?.name, inPlace: { $1(&$0.name) })
      description.observed("age", ageKey, \Person.age, \Person?.?.age, inPlace: { $1(&$0.age) })
    }
  }

  /// Describes nothing, because it adds no properties.
  final class Manager: Person {}

  final class Document: NSObject, KeyValueObservable {
    let _$kvo = KeyValueObservationHeader()
    var __keyValueObject: KeyValueObjectReference { _$kvo.reference }

    @exclusivity(unchecked) private var _title: String = ""
    var title: String {
      get { _$kvo.isTracking ? _$kvo.tracked(self, titleKey, { self._title }) : _title }
      set { _$kvo.set(titleKey, { self.title }, { self._title = newValue }) }
    }

    @exclusivity(unchecked) private var _isFavorite: Bool = false
    var isFavorite: Bool {
      get { _$kvo.isTracking ? _$kvo.tracked(self, isFavoriteKey, { self._isFavorite }) : _isFavorite }
      set { _$kvo.set(isFavoriteKey, { self.isFavorite }, { self._isFavorite = newValue }) }
    }

    @exclusivity(unchecked) private var _author: Person?
    var author: Person? {
      get { _$kvo.isTracking ? _$kvo.tracked(self, authorKey, { self._author }) : _author }
      set { _$kvo.set(authorKey, { self.author }, { self._author = newValue }) }
    }

    @exclusivity(unchecked) private weak var _reviewer: Person?
    var reviewer: Person? {
      get { _$kvo.isTracking ? _$kvo.trackedWeak(self, reviewerKey, { self._reviewer }) : _reviewer }
      set { _$kvo.set(reviewerKey, { self.reviewer }, { self._reviewer = newValue }) }
    }

    @exclusivity(unchecked) private var _pages: [Int] = []
    var pages: [Int] {
      get { _$kvo.isTracking ? _$kvo.tracked(self, pagesKey, { self._pages }) : _pages }
      set { _$kvo.set(pagesKey, { self.pages }, { self._pages = newValue }) }
    }

    var scratch = 0
    var summary: String { "\(title) by \(author?.name ?? "?")" }
    var headline: String { isFavorite ? summary : "none" }
    var revision: Int { scratch }

    static func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
      key == "revision" ? ["title", "author.age"] : []
    }

    static func __describeKeyValueProperties(_ description: KeyValueClassDescription) {
      description.observed("title", titleKey, \Document.title, \Document?.?.title, inPlace: { $1(&$0.title) })
      description.observed(
        "isFavorite", isFavoriteKey, \Document.isFavorite, \Document?.?.isFavorite, inPlace: { $1(&$0.isFavorite) })
      description.observed("author", authorKey, \Document.author, \Document?.?.author, inPlace: { $1(&$0.author) })
      description.observedWeak("reviewer", reviewerKey, \Document.reviewer)
      description.observed("pages", pagesKey, \Document.pages, \Document?.?.pages, inPlace: { $1(&$0.pages) })
      description.stored("scratch", \Document.scratch)
      description.property("summary", \Document.summary)
      description.property("headline", \Document.headline)
      description.property("revision", \Document.revision)
    }
  }

  final class Fresh: KeyValueObservable {
    let _$kvo = KeyValueObservationHeader()
    var __keyValueObject: KeyValueObjectReference { _$kvo.reference }

    @exclusivity(unchecked) private var _value: Int = 0
    var value: Int {
      get { _$kvo.isTracking ? _$kvo.tracked(self, valueKey, { self._value }) : _value }
      set { _$kvo.set(valueKey, { self.value }, { self._value = newValue }) }
    }

    static func __describeKeyValueProperties(_ description: KeyValueClassDescription) {
      description.observed("value", valueKey, \Fresh.value, \Fresh?.?.value, inPlace: { $1(&$0.value) })
    }
  }
#endif
