// The code of Documentation/Porting.md: dependent keys and manual notification.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  // guide: dependent
  @KeyValueObservable
  class Person {
    var firstName = ""
    var lastName = ""

    // Nothing to declare: what it reads is found.
    var fullName: String { "\(firstName) \(lastName)" }
  }
  // guide end

  // guide: dependent declared
  @KeyValueObservable
  class Employee: Person {
    @NotObserved var directory: [String: String] = [:]

    // Reads what is not observed: declare it.
    var office: String { directory[lastName] ?? "-" }

    class func keyPathsForValuesAffectingOffice() -> Set<String> {
      ["lastName"]
    }

    // Or all keys in one place.
    override class func keyPathsForValuesAffectingValue(
      forKey key: String
    ) -> Set<String> {
      let paths = super.keyPathsForValuesAffectingValue(
        forKey: key)
      return key == "fullName"
        ? paths.union(["directory"]) : paths
    }
  }
  // guide end

  // guide: manual
  @KeyValueObservable
  class Download {
    @NotObserved private var total = 0

    var bytes: Int {
      get { total }
      set {
        guard newValue != total else { return }
        willChangeValue(forKey: "bytes")
        total = newValue
        didChangeValue(forKey: "bytes")
      }
    }

    class func automaticallyNotifiesObservers(
      forKey key: String
    ) -> Bool {
      key != "bytes"
    }
  }
  // guide end

  // guide: didSet
  @KeyValueObservable
  final class Slider {
    var value = 0.0 {
      didSet { value = min(max(value, 0), 1) }
    }
  }
  // guide end

  @Suite("The porting guide: keys")
  struct GuideKeysTests {
    @Test func `A computed property tells of what it reads`() {
      let person = Person()
      nonisolated(unsafe) var names: [String] = []
      let token = person.observe(\.fullName, options: [.new]) { _, change in names.append(change.newValue!) }
      person.firstName = "Jane"
      person.lastName = "Doe"
      #expect(names == ["Jane ", "Jane Doe"])
      token.invalidate()
    }

    @Test func `A declared dependency is told`() {
      let employee = Employee()
      employee.directory["Doe"] = "B12"
      nonisolated(unsafe) var offices: [String] = []
      let token = employee.observe(\.office, options: [.new]) { _, change in offices.append(change.newValue!) }
      employee.lastName = "Doe"
      #expect(offices == ["B12"])
      token.invalidate()
    }

    @Test func `A property that announces itself tells once, and not for an equal value`() {
      let download = Download()
      nonisolated(unsafe) var bytes: [Int] = []
      let token = download.observe(\.bytes, options: [.new]) { _, change in bytes.append(change.newValue!) }
      download.bytes = 5
      download.bytes = 5
      download.bytes = 6
      #expect(bytes == [5, 6])
      token.invalidate()
    }

    @Test func `Observers see what didSet made of a value`() {
      let slider = Slider()
      nonisolated(unsafe) var values: [Double] = []
      let token = slider.observe(\.value, options: [.new]) { _, change in values.append(change.newValue!) }
      slider.value = 5
      #expect(values == [1])
      token.invalidate()
    }
  }
#endif
