// Cocoa's verbs: bind(_:to:withKeyPath:options:) and what goes with it.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("A binding of Cocoa's")
  struct CocoaBindingTests {
    private let field = Field()
    private let person = Person("Ann")

    @Test("sets the property now and at each change, and the observed object when anything else sets the property")
    func bothWays() {
      field.bind(.value, to: person, withKeyPath: "name")
      #expect(field.value == "Ann")
      person.name = "Bea"
      #expect(field.value == "Bea")
      field.value = "Cid"
      #expect(person.name == "Cid")
      field.setValue("Dan", forKey: "value")
      #expect(person.name == "Dan")
      let other = Person("bad")
      let token = field.observe(\.value) { field, _ in if field.value == "bad" { field.value = "good" } }
      field.bind(.value, to: other, withKeyPath: "name")
      #expect(field.value == "good" && other.name == "good", "an observer has replaced the first value")
      token.invalidate()
    }

    @Test("transfers values that are not Equatable: arrays of objects and structures, both ways, each once")
    func notEquatable() {
      let (table, team) = (Table(), Team())
      table.bind(.contentArray, to: team, withKeyPath: "people")
      table.bind(.value, to: team, withKeyPath: "note")
      team.people = [person]
      #expect(table.contentArray.map(\.name) == ["Ann"])
      team.people = [Person("Bea")]
      #expect(table.contentArray.map(\.name) == ["Bea"])
      nonisolated(unsafe) var changes = 0
      let tokens = [
        team.observe(\.people) { _, _ in changes += 1 }, table.observe(\.contentArray) { _, _ in changes += 1 },
      ]
      table.contentArray = [person, Person("Cid")]
      #expect(team.people.map(\.name) == ["Ann", "Cid"] && changes == 2)
      team.note = Note(text: "A")
      #expect(table.value.text == "A")
      table.value = Note(text: "B")
      #expect(team.note.text == "B" && changes == 2)
      for token in tokens { token.invalidate() }
    }

    @Test("of values that cannot be compared goes around a cycle a few times only")
    func incomparableCycle() {
      let (table, team) = (Table(), Team())
      table.bind(.value, to: team, withKeyPath: "counted")
      #expect(faults { team.counted = Note(text: "A") } == [])
      #expect(table.value.text.hasPrefix("A") && team.counted.text.count < 100)
      table.bind(.contentArray, to: team, withKeyPath: "people")
      #expect(faults { table.value = Note(text: "B") } == [])
      #expect(team.counted.text.hasPrefix("B"))
    }

    @Test("follows a key path, and sets at its end")
    func keyPath() {
      field.bind(.value, to: person, withKeyPath: "manager.name")
      #expect(field.value == nil)
      person.manager = Person("Bea")
      #expect(field.value == "Bea")
      field.value = "Cid"
      #expect(person.manager?.name == "Cid")
    }

    @Test("takes NaN for a value like any other, and one that is corrected for another")
    func nan() {
      field.bind(NSBindingName(rawValue: "level"), to: person, withKeyPath: "height")
      var values: [Double] = []
      for (value, correctsNaN) in [(Double.nan, false), (1, false), (.nan, true)] {
        person.correctsNaN = correctsNaN
        field.level = value
        values += [field.level, person.height]
      }
      #expect(values[0].isNaN && values[1].isNaN && values.dropFirst(2) == [1, 1, -1, -1])
    }

    @Test("of a value of the wrong type is the fault of key-value coding on each side that refuses it, once an entry")
    func wrongType() {
      #expect(faults { field.bind(.maxValue, to: person, withKeyPath: "name") } == [26])
      #expect(field.maxValue == 0)
      person.age = 36
      #expect(faults { field.bind(.value, to: person, withKeyPath: "age") } == [26])
      #expect(faults { field.value = "abc" } == [26, 26])
      #expect(person.age == 36)
      #expect(faults { field.value = "37" } == [])
      #expect(person.age == 37)
    }

    @Test("converts with a transformer by object or by name, and back")
    func transformers() {
      field.bind(.enabled, to: person, withKeyPath: "isLocked", options: [.valueTransformerName: "NSNegateBoolean"])
      field.bind(.value, to: person, withKeyPath: "age", options: [.valueTransformer: Years()])
      #expect(field.enabled && field.value == "0 years")
      person.isLocked = true
      person.age = 7
      #expect(!field.enabled && field.value == "7 years")
      field.enabled = true
      field.value = "8"
      #expect(!person.isLocked && person.age == 8 && field.value == "8 years")
    }

    @Test("through a transformer that does not convert back, or to a collection operator, sets the property only")
    func oneWay() {
      let name = NSValueTransformerName.isNotNilTransformerName
      field.bind(.enabled, to: person, withKeyPath: "manager", options: [.valueTransformerName: name])
      field.bind(.maxValue, to: person, withKeyPath: "reports.@count")
      #expect(!field.enabled)
      person.manager = Person("Bea")
      person.reports = [Person("Cid")]
      #expect(field.enabled && field.maxValue == 1)
      let codes = faults {
        field.enabled = false
        field.maxValue = 9
      }
      #expect(codes == [] && person.manager != nil)
    }

    @Test("shows a placeholder for nil, for nil on the path, and for what a selection marker says")
    func placeholders() {
      let options: [NSBindingOption: Any] = [
        .nullPlaceholder: "none", .noSelectionPlaceholder: "nobody", .multipleValuesPlaceholder: "several",
      ]
      person.name = nil
      field.bind(.value, to: person, withKeyPath: "name", options: options)
      #expect(field.value == "none" && person.name == nil)
      field.bind(.value, to: person, withKeyPath: "manager.name", options: options)
      var shown = [field.value]
      for manager in [Person(nil), Person("Ann"), nil] {
        person.manager = manager
        shown.append(field.value)
      }
      field.value = "Bea"
      #expect(shown + [field.value] == ["nobody", "none", "Ann", "nobody", "nobody"])
      let choice = Choice()
      field.bind(.value, to: choice, withKeyPath: "selection", options: options)
      #expect(field.value == "nobody")
      choice.selection = NSBindingSelectionMarker.multipleValues
      #expect(field.value == "several")
      field.value = "Cid"
      #expect(choice.selection as? String == "Cid")
    }

    @Test("shows the placeholder for a key that the present object does not have, or raises KVO0009, also later")
    func notApplicable() {
      let choice = Choice()
      choice.selection = Choice()
      func bind(_ options: [NSBindingOption: Any]) -> [Int] {
        faults { field.bind(.value, to: choice, withKeyPath: "selection.name", options: options) }
      }
      #expect(bind([.notApplicablePlaceholder: "-"]) == [] && field.value == "-")
      #expect(faults { choice.selection = Person("Ann") } == [] && field.value == "Ann")
      #expect(faults { choice.selection = Choice() } == [] && field.value == "-")
      #expect(bind([.raisesForNotApplicableKeys: false]) == [] && field.value == nil)
      #expect(bind([:]) == [9])
      #expect(bind([.notApplicablePlaceholder: "-", .raisesForNotApplicableKeys: true]) == [9])
      choice.selection = person
      #expect(bind([:]) == [] && field.value == "Ann")
      #expect(faults { choice.selection = Choice() } == [9] && field.value == "Ann", "the property stays")
      #expect(faults { choice.selection = Person("Bea") } == [] && field.value == "Bea")
    }

    @Test("validates what is entered if the option says so: refuses it, or shows what was made of it")
    func validation() {
      field.bind(.value, to: person, withKeyPath: "name", options: [.validatesImmediately: true])
      for entry in ["  Bea ", ""] {
        field.value = entry
        #expect(person.name == "Bea" && field.value == "Bea")
      }
      #expect(field.errors == ["value"])
      field.bind(.value, to: person, withKeyPath: "name")
      field.value = ""
      #expect(person.name == "")
    }

    @Test("shows what the observed object's setter has made of a value, but does not correct that object")
    func correction() {
      field.bind(.maxValue, to: person, withKeyPath: "age")
      let codes = faults {
        field.maxValue = 300
        #expect(person.age == 150 && field.maxValue == 150)
        person.age = 120
        field.bind(.minValue, to: person, withKeyPath: "age")
        #expect(person.age == 120 && field.minValue == 100)
      }
      #expect(codes == [])
    }

    @Test("keeps neither side, and ends with either")
    func ends() {
      var (field, person): (Field?, Person?) = (Field(), Person("Ann"))
      weak let weakField = field
      weak let weakPerson = person
      field!.bind(.value, to: person!, withKeyPath: "name")
      person = nil
      #expect(weakPerson == nil && field!.infoForBinding(.value) == nil)
      field!.value = "Bea"
      field!.bind(.value, to: self.person, withKeyPath: "name")
      field = nil
      #expect(weakField == nil)
      self.person.name = "Bea"
    }

    @Test("replaces the one of the same name; unbind ends it, and does nothing if there is none")
    func replaces() {
      let bea = Person("Bea")
      field.unbind(.value)
      field.bind(.value, to: person, withKeyPath: "name")
      field.bind(.value, to: bea, withKeyPath: "name")
      person.name = "Cid"
      #expect(field.value == "Bea")
      field.value = "Dan"
      #expect(person.name == "Cid" && bea.name == "Dan")
      for unbind in [{ field.unbind(.value) }, { field.unbindAll() }, { bea.unbind(\.name) }] as [() -> Void] {
        field.bind(.value, to: bea, withKeyPath: "name")
        unbind()
        bea.name = "Eva"
        field.value = "Fay"
        let kept = bea.name
        bea.name = "Gus"
        #expect(kept == "Eva" && field.value == "Fay")
      }
    }

    @Test("is described by infoForBinding until it ends")
    func info() {
      #expect(field.infoForBinding(.value) == nil)
      field.bind(.value, to: person, withKeyPath: "manager.name", options: [.nullPlaceholder: "none"])
      let info = field.infoForBinding(.value)
      #expect(info?[.observedObject] as? Person === person)
      #expect(info?[.observedKeyPath] as? String == "manager.name")
      #expect((info?[.options] as? [NSBindingOption: Any])?[.nullPlaceholder] as? String == "none")
      field.unbind(.value)
      #expect(field.infoForBinding(.value) == nil)
      field.bind(.maxValue, to: field, withKeyPath: "minValue")
      #expect(field.infoForBinding(.maxValue)?[.observedKeyPath] as? String == "minValue")
      field.unbind(.maxValue)
      field.minValue = 5
      #expect(field.infoForBinding(.maxValue) == nil && field.maxValue == 0)
    }

    @Test("is refused with a fault if it names no property, no observable object, or an option without effect")
    func refused() {
      func codes(
        _ name: NSBindingName = .value, _ object: Any? = nil, _ path: String = "name",
        _ options: [NSBindingOption: Any] = [:]
      ) -> [Int] {
        faults { field.bind(name, to: object ?? person, withKeyPath: path, options: options) }
      }
      #expect(codes(.title) == [9])
      #expect(codes(.value, "Ann") == [8])
      for (path, code) in [("nothing", 9), ("a..b", 10), ("reports.name", 18)] {
        #expect(codes(.value, nil, path) == [code])
      }
      let options: [[NSBindingOption: Any]] = [
        [NSBindingOption(rawValue: "NSDisplayPattern"): "%{value1}@"], [.valueTransformerName: "Nobody"],
        [.valueTransformer: "Nobody"], [.validatesImmediately: "perhaps"],
      ]
      for option in options { #expect(codes(.value, nil, "name", option) == [8], "\(option)") }
      #expect(field.infoForBinding(.value) == nil && field.value == nil)
    }

    @Test("in a cycle settles; one whose conversions differ does not answer")
    func cycles() {
      let fields = [Field(), Field(), Field()]
      let codes = faults {
        for (index, field) in fields.enumerated() {
          field.bind(.value, to: fields[(index + 1) % 3], withKeyPath: "value")
        }
        fields[1].value = "A"
        field.bind(.maxValue, to: person, withKeyPath: "age", options: [.valueTransformer: OneMore()])
        for age in [4, 5] { person.age = age }
      }
      #expect(codes == [])
      #expect(fields.map(\.value) == ["A", "A", "A"])
      #expect(person.age == 5 && field.maxValue == 6)
    }

    @Test("can be made by an override of bind, and its bindings are exposed by class, those of superclasses first")
    func overridden() {
      let special = SpecialField()
      special.bind(.title, to: person, withKeyPath: "name", options: nil)
      #expect(special.value == "Ann")
      #expect(special.infoForBinding(.title)?[.observedKeyPath] as? String == "name")
      Field.exposeBinding(.value)
      SpecialField.exposeBinding(.title)
      SpecialField.exposeBinding(.value)
      #expect(special.exposedBindings == [.value, .title])
      #expect(field.exposedBindings == [.value])
      #expect(field.valueClassForBinding(.value) == String.self)
      #expect(field.valueClassForBinding(.maxValue) == Int.self)
      #expect(field.valueClassForBinding(.title) == nil)
    }
  }

  @KeyValueObservable
  private class Field: KeyValueObject {
    var value: String?
    var enabled = true
    var maxValue = 0
    var level = 0.0
    var minValue = 0 { didSet { if minValue > 100 { minValue = 100 } } }
    @NotObserved var errors: [String] = []

    override func presentError(_ error: any Error, forBinding binding: NSBindingName) {
      errors.append(binding.rawValue)
    }
  }

  /// Shows values that are not Equatable.
  @KeyValueObservable
  private final class Table: KeyValueObject {
    var contentArray: [Person] = []
    var value = Note(text: "")
  }

  @KeyValueObservable
  private final class Team {
    var people: [Person] = []
    var note = Note(text: "")
    var counted = Note(text: "") { didSet { counted.text += "." } }
  }

  private struct Note { var text: String }

  /// Binds its title as its value.
  private final class SpecialField: Field {
    override func bind(
      _ binding: NSBindingName, to observable: Any, withKeyPath keyPath: String, options: [NSBindingOption: Any]?
    ) {
      super.bind(binding == .title ? .value : binding, to: observable, withKeyPath: keyPath, options: options)
    }

    override func infoForBinding(_ binding: NSBindingName) -> [NSBindingInfoKey: Any]? {
      super.infoForBinding(binding == .title ? .value : binding)
    }
  }

  @KeyValueObservable
  private final class Person {
    var name: String?
    var age = 0 { didSet { if age > 150 { age = 150 } } }
    var isLocked = false
    @NotObserved var correctsNaN = false
    var height = 0.0 { didSet { if correctsNaN, height.isNaN { height = -1 } } }
    var manager: Person?
    var reports: [Person] = []

    init(_ name: String?) { self.name = name }

    struct NoName: Error {}

    func validateName(_ value: inout Any?) throws {
      let text = (value as? String ?? "").trimmingCharacters(in: .whitespaces)
      if text.isEmpty { throw NoName() }
      value = text
    }
  }

  /// A controller: its selection may be a marker.
  @KeyValueObservable
  private final class Choice {
    var selection: Any? = NSBindingSelectionMarker.noSelection
  }

  private final class Years: ValueTransformer {
    override func transformedValue(_ value: Any?) -> Any? { (value as? Int).map { "\($0) years" } }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
      (value as? String).flatMap { Int($0.prefix { $0 != " " }) }
    }
  }

  /// Its two directions do not agree.
  private final class OneMore: ValueTransformer {
    override func transformedValue(_ value: Any?) -> Any? { (value as? Int).map { $0 + 1 } }
    override func reverseTransformedValue(_ value: Any?) -> Any? { value }
  }
#endif
