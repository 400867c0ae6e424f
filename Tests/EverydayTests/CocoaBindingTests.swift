// Cocoa's verbs: bind(_:to:withKeyPath:options:) and what goes with it.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("A binding of Cocoa's")
  struct CocoaBindingTests {
    @Test("sets the property now and at each change, and the observed object when anything else sets the property")
    func bothWays() {
      let (field, person) = (Field(), Person("Ann"))
      field.bind(.value, to: person, withKeyPath: "name")
      #expect(field.value == "Ann")
      person.name = "Bea"
      #expect(field.value == "Bea")
      field.value = "Cid"
      #expect(person.name == "Cid")
      field.setValue("Dan", forKey: "value")
      #expect(person.name == "Dan")
    }

    @Test("sets the observed object also when an observer replaces the first value")
    func replacedInitially() {
      let (field, person) = (Field(), Person("bad"))
      let token = field.observe(\.value) { field, _ in if field.value == "bad" { field.value = "good" } }
      field.bind(.value, to: person, withKeyPath: "name")
      #expect(field.value == "good" && person.name == "good")
      token.invalidate()
    }

    @Test("follows a key path, and sets at its end")
    func keyPath() {
      let (field, person) = (Field(), Person("Ann"))
      field.bind(.value, to: person, withKeyPath: "manager.name")
      #expect(field.value == nil)
      person.manager = Person("Bea")
      #expect(field.value == "Bea")
      field.value = "Cid"
      #expect(person.manager?.name == "Cid")
    }

    @Test("takes NaN for a value like any other, and one that is corrected for another")
    func nan() {
      let (gauge, reading) = (Gauge(), Reading())
      gauge.bind(.value, to: reading, withKeyPath: "degrees")
      reading.correctsNaN = false
      gauge.value = .nan
      #expect(reading.degrees.isNaN && gauge.value.isNaN)
      gauge.value = 1
      #expect(reading.degrees == 1)
      reading.correctsNaN = true
      gauge.value = .nan
      #expect([reading.degrees, gauge.value] == [-1, -1])
    }

    @Test("of a value of the wrong type is a fault on each side that refuses it, once for an entry")
    func wrongEntry() {
      let (field, person) = (Field(), Person("Ann"))
      person.age = 36
      #expect(faults { field.bind(.value, to: person, withKeyPath: "age") } == [26])
      #expect(faults { field.value = "abc" } == [26, 26])
      #expect(person.age == 36)
      #expect(faults { field.value = "37" } == [])
      #expect(person.age == 37)
    }

    @Test("converts with a transformer by object or by name, and back")
    func transformers() {
      let (field, person) = (Field(), Person("Ann"))
      field.bind(.enabled, to: person, withKeyPath: "isLocked", options: [.valueTransformerName: "NSNegateBoolean"])
      field.bind(.value, to: person, withKeyPath: "age", options: [.valueTransformer: Years()])
      #expect(field.enabled)
      #expect(field.value == "0 years")
      person.isLocked = true
      person.age = 7
      #expect(!field.enabled)
      #expect(field.value == "7 years")
      field.enabled = true
      field.value = "8"
      #expect(!person.isLocked)
      #expect(person.age == 8)
      #expect(field.value == "8 years")
    }

    @Test("through a transformer that does not convert back, or to a collection operator, sets the property only")
    func oneWay() {
      let (field, person) = (Field(), Person("Ann"))
      let name = NSValueTransformerName.isNotNilTransformerName
      field.bind(.enabled, to: person, withKeyPath: "manager", options: [.valueTransformerName: name])
      field.bind(.maxValue, to: person, withKeyPath: "reports.@count")
      #expect(!field.enabled)
      person.manager = Person("Bea")
      person.reports = [Person("Cid")]
      #expect(field.enabled)
      #expect(field.maxValue == 1)
      let codes = faults {
        field.enabled = false
        field.maxValue = 9
      }
      #expect(codes == [])
      #expect(person.manager != nil)
    }

    @Test("shows a placeholder for nil, for nil on the path, and for what a selection marker says")
    func placeholders() {
      let (field, person) = (Field(), Person(nil))
      let options: [NSBindingOption: Any] = [
        .nullPlaceholder: "none", .noSelectionPlaceholder: "nobody", .multipleValuesPlaceholder: "several",
      ]
      field.bind(.value, to: person, withKeyPath: "name", options: options)
      #expect(field.value == "none")
      #expect(person.name == nil)
      field.bind(.value, to: person, withKeyPath: "manager.name", options: options)
      #expect(field.value == "nobody")
      person.manager = Person(nil)
      #expect(field.value == "none")
      person.manager?.name = "Ann"
      #expect(field.value == "Ann")
      person.manager = nil
      #expect(field.value == "nobody")
      field.value = "Bea"
      #expect(field.value == "nobody")
      field.bind(.value, to: Choice(), withKeyPath: "selection", options: options)
      #expect(field.value == "nobody")
      let choice = Choice()
      field.bind(.value, to: choice, withKeyPath: "selection", options: options)
      choice.selection = NSBindingSelectionMarker.multipleValues
      #expect(field.value == "several")
      field.value = "Cid"
      #expect(choice.selection as? String == "Cid")
    }

    @Test("shows the placeholder for a key that the present object does not have, or raises KVO0009")
    func notApplicable() {
      let (field, choice) = (Field(), Choice())
      choice.selection = Choice()
      let codes = faults {
        field.bind(.value, to: choice, withKeyPath: "selection.name", options: [.notApplicablePlaceholder: "-"])
        #expect(field.value == "-")
        choice.selection = Person("Ann")
        #expect(field.value == "Ann")
        choice.selection = Choice()
        #expect(field.value == "-")
        field.bind(.value, to: choice, withKeyPath: "selection.name", options: [.raisesForNotApplicableKeys: false])
        #expect(field.value == nil)
      }
      #expect(codes == [])
      #expect(faults { field.bind(.value, to: choice, withKeyPath: "selection.name") } == [9])
      #expect(
        faults {
          field.bind(
            .value, to: choice, withKeyPath: "selection.name",
            options: [.notApplicablePlaceholder: "-", .raisesForNotApplicableKeys: true])
        } == [9])
    }

    @Test("that was made tells of a key that is missing later, and leaves the property")
    func missingLater() {
      let (field, choice) = (Field(), Choice())
      choice.selection = Person("Ann")
      field.bind(.value, to: choice, withKeyPath: "selection.name")
      #expect(faults { choice.selection = Choice() } == [9])
      #expect(field.value == "Ann")
      #expect(faults { choice.selection = Person("Bea") } == [])
      #expect(field.value == "Bea")
    }

    @Test("validates what is entered if the option says so: refuses it, or shows what was made of it")
    func validation() {
      let (field, person) = (Field(), Person("Ann"))
      field.bind(.value, to: person, withKeyPath: "name", options: [.validatesImmediately: true])
      field.value = "  Bea "
      #expect(person.name == "Bea")
      #expect(field.value == "Bea")
      field.value = ""
      #expect(person.name == "Bea")
      #expect(field.value == "Bea")
      #expect(field.errors == ["value"])
      field.bind(.value, to: person, withKeyPath: "name")
      field.value = ""
      #expect(person.name == "")
    }

    @Test("shows what the observed object's setter has made of a value, but does not correct that object")
    func correction() {
      let (field, person) = (Field(), Person("Ann"))
      field.bind(.maxValue, to: person, withKeyPath: "age")
      let codes = faults {
        field.maxValue = 300
        #expect(person.age == 150)
        #expect(field.maxValue == 150)
        person.age = 120
        field.bind(.minValue, to: person, withKeyPath: "age")
        #expect(field.minValue == 100)
        #expect(person.age == 120)
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
      #expect(weakPerson == nil)
      #expect(field!.infoForBinding(.value) == nil)
      field!.value = "Bea"
      person = Person("Ann")
      field!.bind(.value, to: person!, withKeyPath: "name")
      field = nil
      #expect(weakField == nil)
      person!.name = "Bea"
    }

    @Test("replaces the one of the same name; unbind ends it, and does nothing if there is none")
    func replaces() {
      let (field, ann, bea) = (Field(), Person("Ann"), Person("Bea"))
      field.unbind(.value)
      field.bind(.value, to: ann, withKeyPath: "name")
      field.bind(.value, to: bea, withKeyPath: "name")
      ann.name = "Cid"
      #expect(field.value == "Bea")
      field.value = "Dan"
      #expect(ann.name == "Cid")
      #expect(bea.name == "Dan")
      field.unbind(.value)
      bea.name = "Eva"
      field.value = "Fay"
      #expect(bea.name == "Eva")
      field.bind(.value, to: ann, withKeyPath: "name")
      field.unbindAll()
      ann.name = "Gus"
      #expect(field.value == "Cid")
    }

    @Test("is described by infoForBinding until it ends")
    func info() {
      let (field, person) = (Field(), Person("Ann"))
      #expect(field.infoForBinding(.value) == nil)
      field.bind(.value, to: person, withKeyPath: "manager.name", options: [.nullPlaceholder: "none"])
      let info = field.infoForBinding(.value)
      #expect(info?[.observedObject] as? Person === person)
      #expect(info?[.observedKeyPath] as? String == "manager.name")
      #expect((info?[.options] as? [NSBindingOption: Any])?[.nullPlaceholder] as? String == "none")
      field.unbind(.value)
      #expect(field.infoForBinding(.value) == nil)
    }

    @Test("is refused with a fault if it names no property, no observable object, or an option without effect")
    func refused() {
      let (field, person) = (Field(), Person("Ann"))
      func codes(
        _ name: NSBindingName = .value, _ object: Any? = nil, _ path: String = "name",
        _ options: [NSBindingOption: Any] = [:]
      ) -> [Int] {
        faults { field.bind(name, to: object ?? person, withKeyPath: path, options: options) }
      }
      #expect(codes(.title) == [9])
      #expect(codes(.value, "Ann") == [8])
      #expect(codes(.value, nil, "nothing") == [9])
      #expect(codes(.value, nil, "a..b") == [10])
      #expect(codes(.value, nil, "reports.name") == [18])
      #expect(codes(.value, nil, "name", [NSBindingOption(rawValue: "NSDisplayPattern"): "%{value1}@"]) == [8])
      #expect(codes(.value, nil, "name", [.valueTransformerName: "Nobody"]) == [8])
      #expect(codes(.value, nil, "name", [.valueTransformer: "Nobody"]) == [8])
      #expect(codes(.value, nil, "name", [.validatesImmediately: "perhaps"]) == [8])
      #expect(field.infoForBinding(.value) == nil)
      #expect(field.value == nil)
    }

    @Test("of a value of the wrong type is the fault of key-value coding")
    func wrongType() {
      let (field, person) = (Field(), Person("Ann"))
      #expect(faults { field.bind(.maxValue, to: person, withKeyPath: "name") } == [26])
      #expect(field.maxValue == 0)
    }

    @Test("in a cycle settles; one whose conversions differ does not answer")
    func cycles() {
      let fields = [Field(), Field(), Field()]
      let person = Person("Ann")
      let settled = faults {
        for (index, field) in fields.enumerated() {
          field.bind(.value, to: fields[(index + 1) % 3], withKeyPath: "value")
        }
        fields[1].value = "A"
      }
      #expect(settled == [])
      #expect(fields.map(\.value) == ["A", "A", "A"])
      let differing = faults {
        fields[0].bind(.maxValue, to: person, withKeyPath: "age", options: [.valueTransformer: OneMore()])
        person.age = 4
        person.age = 5
      }
      #expect(differing == [])
      #expect(person.age == 5)
      #expect(fields[0].maxValue == 6)
    }

    @Test("can be made by an override of bind, and its bindings are exposed by class, those of superclasses first")
    func overridden() {
      let (special, person) = (SpecialField(), Person("Ann"))
      special.bind(.title, to: person, withKeyPath: "name", options: nil)
      #expect(special.value == "Ann")
      #expect(special.infoForBinding(.title)?[.observedKeyPath] as? String == "name")
      Field.exposeBinding(.value)
      SpecialField.exposeBinding(.title)
      SpecialField.exposeBinding(.value)
      #expect(special.exposedBindings == [.value, .title])
      #expect(Field().exposedBindings == [.value])
      #expect(Field().valueClassForBinding(.value) == String.self)
      #expect(Field().valueClassForBinding(.maxValue) == Int.self)
      #expect(Field().valueClassForBinding(.title) == nil)
    }
  }

  @KeyValueObservable
  private class Field: KeyValueObject {
    var value: String?
    var enabled = true
    var maxValue = 0
    var minValue = 0 { didSet { if minValue > 100 { minValue = 100 } } }
    @NotObserved var errors: [String] = []

    override func presentError(_ error: any Error, forBinding binding: NSBindingName) {
      errors.append(binding.rawValue)
    }
  }

  @KeyValueObservable
  private final class Gauge: KeyValueObject {
    var value = 0.0
  }

  @KeyValueObservable
  private final class Reading: KeyValueObject {
    @NotObserved var correctsNaN = false
    var degrees = 0.0 { didSet { if correctsNaN, degrees.isNaN { degrees = -1 } } }
  }

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
