// The classes of Models.swift for a package without the macro, with handwritten accessors.
#if !Macros
  import Foundation
  import KeyValueObserving

  // FNV-1a hashes of the names.
  private let nameKey: UInt64 = 0xc4bc_adba_8e63_1b86
  private let ageKey: UInt64 = 0xe715_b419_0539_215c
  private let partnerKey: UInt64 = 0x9caa_a76c_1a74_04f9
  private let bossKey: UInt64 = 0xcd21_dd9b_c6a3_e6ac
  private let titleKey: UInt64 = 0xda31_296c_0c1b_6029
  private let isFavoriteKey: UInt64 = 0xae04_01f3_3017_0edd
  private let authorKey: UInt64 = 0x6c74_8afa_4d8d_ef96
  private let reviewerKey: UInt64 = 0x9fd5_b952_4736_781a
  private let pagesKey: UInt64 = 0xab01_daa7_6a48_769f
  private let positionKey: UInt64 = 0x4cbf_3a26_fca1_d74a
  private let booksKey: UInt64 = 0x5843_0ab2_9d1e_ba91
  private let favoriteKey: UInt64 = 0xa28d_35fa_34ee_e1ed
  private let valueKey: UInt64 = 0x7ce4_fd94_30e8_0cea
  private let hereKey: UInt64 = 0x0a4e_01cc_5f62_582b
  private let echoKey: UInt64 = 0x3000_e560_2604_4164

  class Person: KeyValueObservable {
    let _$kvo = KeyValueObservationHeader()
    var __keyValueObject: KeyValueObjectReference { _$kvo.reference }

    @exclusivity(unchecked) private var _name: String
    var name: String {
      get { _$kvo.isTracking ? _$kvo.tracked(self, nameKey, { self._name }) : _name }
      set {
        guard _$kvo.isObserved else {
          _name = newValue
          return
        }
        _$kvo.change(nameKey, { self.name }, { self._name = newValue })
      }
    }

    @exclusivity(unchecked) private var _age: Int = 0
    var age: Int {
      get { _$kvo.isTracking ? _$kvo.tracked(self, ageKey, { self._age }) : _age }
      set {
        guard _$kvo.isObserved else {
          _age = newValue
          return
        }
        _$kvo.change(ageKey, { self.age }, { self._age = newValue })
      }
    }

    @exclusivity(unchecked) private var _partner: Person?
    var partner: Person? {
      get { _$kvo.isTracking ? _$kvo.tracked(self, partnerKey, { self._partner }) : _partner }
      set {
        guard _$kvo.isObserved else {
          _partner = newValue
          return
        }
        _$kvo.change(partnerKey, { self.partner }, { self._partner = newValue })
      }
    }

    @exclusivity(unchecked) private weak var _boss: Person?
    var boss: Person? {
      get { _$kvo.isTracking ? _$kvo.trackedWeak(self, bossKey, { self._boss }) : _boss }
      set {
        guard _$kvo.isObserved else {
          _boss = newValue
          return
        }
        _$kvo.change(bossKey, { self.boss }, { self._boss = newValue })
      }
    }

    init(name: String) { _name = name }

    class func __describeKeyValueProperties(_ description: KeyValueClassDescription) {
      description.observed("name", nameKey, \Person.name, \Person?.?.name, inPlace: { $1(&$0.name) })
      description.observed("age", ageKey, \Person.age, \Person?.?.age, inPlace: { $1(&$0.age) })
      description.observed("partner", partnerKey, \Person.partner, \Person?.?.partner, inPlace: { $1(&$0.partner) })
      description.observedWeak("boss", bossKey, \Person.boss)
    }
  }

  /// Describes nothing, because it adds no properties.
  final class Manager: Person {
    var isStrict = false
  }

  final class Document: NSObject, KeyValueObservable {
    let _$kvo = KeyValueObservationHeader()
    var __keyValueObject: KeyValueObjectReference { _$kvo.reference }

    @exclusivity(unchecked) private var _title: String = ""
    var title: String {
      get { _$kvo.isTracking ? _$kvo.tracked(self, titleKey, { self._title }) : _title }
      set {
        guard _$kvo.isObserved else {
          _title = newValue
          return
        }
        _$kvo.change(titleKey, { self.title }, { self._title = newValue })
      }
    }

    @exclusivity(unchecked) private var _isFavorite: Bool = false
    var isFavorite: Bool {
      get { _$kvo.isTracking ? _$kvo.tracked(self, isFavoriteKey, { self._isFavorite }) : _isFavorite }
      set {
        guard _$kvo.isObserved else {
          _isFavorite = newValue
          return
        }
        _$kvo.change(isFavoriteKey, { self.isFavorite }, { self._isFavorite = newValue })
      }
    }

    @exclusivity(unchecked) private var _author: Person?
    var author: Person? {
      get { _$kvo.isTracking ? _$kvo.tracked(self, authorKey, { self._author }) : _author }
      set {
        guard _$kvo.isObserved else {
          _author = newValue
          return
        }
        _$kvo.change(authorKey, { self.author }, { self._author = newValue })
      }
    }

    @exclusivity(unchecked) private weak var _reviewer: Person?
    var reviewer: Person? {
      get { _$kvo.isTracking ? _$kvo.trackedWeak(self, reviewerKey, { self._reviewer }) : _reviewer }
      set {
        guard _$kvo.isObserved else {
          _reviewer = newValue
          return
        }
        _$kvo.change(reviewerKey, { self.reviewer }, { self._reviewer = newValue })
      }
    }

    @exclusivity(unchecked) private var _pages: [Int] = []
    var pages: [Int] {
      get { _$kvo.isTracking ? _$kvo.tracked(self, pagesKey, { self._pages }) : _pages }
      set {
        guard _$kvo.isObserved else {
          _pages = newValue
          return
        }
        _$kvo.change(pagesKey, { self.pages }, { self._pages = newValue })
      }
      _modify {
        guard _$kvo.isObserved else {
          yield &_pages
          return
        }
        let change = _$kvo.beginChange(pagesKey, { self.pages })
        defer { change.finish({ self.pages }) }
        yield &_pages
      }
    }

    @exclusivity(unchecked) private var _position: (x: Int, y: Int) = (x: 0, y: 0)
    var position: (x: Int, y: Int) {
      get { _$kvo.isTracking ? _$kvo.tracked(self, positionKey, { self._position }) : _position }
      set {
        guard _$kvo.isObserved else {
          _position = newValue
          return
        }
        _$kvo.change(positionKey, { self.position }, { self._position = newValue })
      }
    }

    var silent: Person?
    var scratch = 0
    var drafts: [String] = []
    var summary: String { "\(title) by \(author?.name ?? "?")" }
    var headline: String { isFavorite ? summary : "none" }
    var revision: Int { scratch }

    static func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
      key == "revision" ? ["title", "author.age"] : []
    }
    static func automaticallyNotifiesObservers(forKey key: String) -> Bool { key != "position" }

    static func __describeKeyValueProperties(_ description: KeyValueClassDescription) {
      description.observed("title", titleKey, \Document.title, \Document?.?.title, inPlace: { $1(&$0.title) })
      description.observed(
        "isFavorite", isFavoriteKey, \Document.isFavorite, \Document?.?.isFavorite, inPlace: { $1(&$0.isFavorite) })
      description.observed("author", authorKey, \Document.author, \Document?.?.author, inPlace: { $1(&$0.author) })
      description.observedWeak("reviewer", reviewerKey, \Document.reviewer)
      description.observed("pages", pagesKey, \Document.pages, \Document?.?.pages, inPlace: { $1(&$0.pages) })
      description.observed(
        "position", positionKey, \Document.position, \Document?.?.position, inPlace: { $1(&$0.position) })
      description.stored("silent", \Document.silent)
      description.stored("scratch", \Document.scratch)
      description.stored("drafts", \Document.drafts)
      description.property("summary", \Document.summary)
      description.property("headline", \Document.headline)
      description.property("revision", \Document.revision)
    }
  }

  final class Shelf: KeyValueObservable {
    let _$kvo = KeyValueObservationHeader()
    var __keyValueObject: KeyValueObjectReference { _$kvo.reference }

    @exclusivity(unchecked) private var _books: [Person] = []
    var books: [Person] {
      get { _$kvo.isTracking ? _$kvo.tracked(self, booksKey, { self._books }) : _books }
      set {
        guard _$kvo.isObserved else {
          _books = newValue
          return
        }
        _$kvo.change(booksKey, { self.books }, { self._books = newValue })
      }
      _modify {
        guard _$kvo.isObserved else {
          yield &_books
          return
        }
        let change = _$kvo.beginChange(booksKey, { self.books })
        defer { change.finish({ self.books }) }
        yield &_books
      }
    }

    @exclusivity(unchecked) private weak var _favorite: Person?
    var favorite: Person? {
      get { _$kvo.isTracking ? _$kvo.trackedWeak(self, favoriteKey, { self._favorite }) : _favorite }
      set {
        guard _$kvo.isObserved else {
          _favorite = newValue
          return
        }
        _$kvo.change(favoriteKey, { self.favorite }, { self._favorite = newValue })
      }
    }

    static func __describeKeyValueProperties(_ description: KeyValueClassDescription) {
      description.observed("books", booksKey, \Shelf.books, \Shelf?.?.books, inPlace: { $1(&$0.books) })
      description.observedWeak("favorite", favoriteKey, \Shelf.favorite)
    }
  }

  final class Marked<Mark>: KeyValueObservable {
    let _$kvo = KeyValueObservationHeader()
    var __keyValueObject: KeyValueObjectReference { _$kvo.reference }

    @exclusivity(unchecked) private var _name: String = ""
    var name: String {
      get { _$kvo.isTracking ? _$kvo.tracked(self, nameKey, { self._name }) : _name }
      set {
        guard _$kvo.isObserved else {
          _name = newValue
          return
        }
        _$kvo.change(nameKey, { self.name }, { self._name = newValue })
      }
    }

    static func __describeKeyValueProperties(_ description: KeyValueClassDescription) {
      description.observed("name", nameKey, \Marked<Mark>.name, \Marked<Mark>?.?.name, inPlace: { $1(&$0.name) })
    }
  }

  final class Fresh: KeyValueObservable {
    let _$kvo = KeyValueObservationHeader()
    var __keyValueObject: KeyValueObjectReference { _$kvo.reference }

    @exclusivity(unchecked) private var _value: Int = 0
    var value: Int {
      get { _$kvo.isTracking ? _$kvo.tracked(self, valueKey, { self._value }) : _value }
      set {
        guard _$kvo.isObserved else {
          _value = newValue
          return
        }
        _$kvo.change(valueKey, { self.value }, { self._value = newValue })
      }
    }

    static func __describeKeyValueProperties(_ description: KeyValueClassDescription) {
      description.observed("value", valueKey, \Fresh.value, \Fresh?.?.value, inPlace: { $1(&$0.value) })
    }
  }

  final class Counter: KeyValueObservable {
    let _$kvo = KeyValueObservationHeader()
    var __keyValueObject: KeyValueObjectReference { _$kvo.reference }

    @exclusivity(unchecked) private var _here: Int = 0
    var here: Int {
      get { _$kvo.isTracking ? _$kvo.tracked(self, hereKey, { self._here }) : _here }
      set {
        guard _$kvo.isObserved else {
          _here = newValue
          return
        }
        _$kvo.change(hereKey, { self.here }, { self._here = newValue })
      }
    }

    @exclusivity(unchecked) private var _echo: Int = 0
    var echo: Int {
      get { _$kvo.isTracking ? _$kvo.tracked(self, echoKey, { self._echo }) : _echo }
      set {
        guard _$kvo.isObserved else {
          _echo = newValue
          return
        }
        _$kvo.change(echoKey, { self.echo }, { self._echo = newValue })
      }
    }

    static func __describeKeyValueProperties(_ description: KeyValueClassDescription) {
      description.observed("here", hereKey, \Counter.here, \Counter?.?.here, inPlace: { $1(&$0.here) })
      description.observed("echo", echoKey, \Counter.echo, \Counter?.?.echo, inPlace: { $1(&$0.echo) })
    }
  }
#endif
