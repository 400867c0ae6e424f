// The code of Documentation/Porting.md: dependent keys and manual notification.
import Foundation
import KeyValueObserving
import Testing

// snippet: dependent

// snippet: dependent declared

// snippet: manual

// snippet: didSet

// snippet: lazy

// snippet: stored elsewhere

@Suite("The porting guide: keys")
struct GuideKeysTests {
  @Test func `A computed property notifies of changes of the properties it reads`() {
    let person = Person()
    nonisolated(unsafe) var names: [String] = []
    let token = person.observe(\.fullName, options: [.new]) { _, change in names.append(change.newValue!) }
    person.firstName = "Jane"
    person.lastName = "Doe"
    #expect(names == ["Jane ", "Jane Doe"])
    token.invalidate()
  }

  @Test func `A declared dependency notifies`() {
    let employee = Employee()
    employee.directory["Doe"] = "B12"
    nonisolated(unsafe) var offices: [String] = []
    let token = employee.observe(\.office, options: [.new]) { _, change in offices.append(change.newValue!) }
    employee.lastName = "Doe"
    #expect(offices == ["B12"])
    token.invalidate()
  }

  @Test func `A manually announced property notifies once, and not for an equal value`() {
    let download = Download()
    nonisolated(unsafe) var bytes: [Int] = []
    let token = download.observe(\.bytes, options: [.new]) { _, change in bytes.append(change.newValue!) }
    download.bytes = 5
    download.bytes = 5
    download.bytes = 6
    #expect(bytes == [5, 6])
    token.invalidate()
  }

  @Test func `Observers receive the value that didSet has set`() {
    let slider = Slider()
    nonisolated(unsafe) var values: [Double] = []
    let token = slider.observe(\.value, options: [.new]) { _, change in values.append(change.newValue!) }
    slider.value = 5
    #expect(values == [1])
    token.invalidate()
  }

  @Test func `A lazy property notifies when it is set`() {
    let report = Report()
    nonisolated(unsafe) var rows: [[String]] = []
    let token = report.observe(\.rows, options: [.old, .new]) { _, change in
      rows += [change.oldValue!, change.newValue!]
    }
    report.rows.append("c")
    #expect(rows == [["a", "b"], ["a", "b", "c"]])
    token.invalidate()
  }

  @Test func `A property stored in UserDefaults notifies when it is set`() {
    let preferences = Preferences()
    let before = preferences.theme
    nonisolated(unsafe) var themes: [String] = []
    let token = preferences.observe(\.theme, options: [.new]) { _, change in themes.append(change.newValue!) }
    preferences.theme = "dark"
    preferences.theme = before
    #expect(themes == ["dark", before])
    token.invalidate()
    UserDefaults.standard.removeObject(forKey: "theme")
  }
}
