// The program of the tutorial FormBindings, with all its steps: Tests/Tutorials/README.md says how they are marked.
import KeyValueObserving

@KeyValueObservable
final class Person {
  var name = "Jane"
  var age = 36 { didSet { if age > 150 { age = 150 } } }
}

@KeyValueObservable
final class Form {
  var heading = ""
  // from 3
  var nameField = ""
  // from 4
  var ageField = ""
  // from 5
  var canSave = false
  // end
  // from 2

  func show(_ person: Person) {
    bind(\.heading) { "\(person.name), \(person.age)" }
    // from 3
    bindTwoWay(\.nameField, with: person, \.name)
    // from 4
    bindTwoWay(\.ageField, with: person, \.age, forward: { Int($0) ?? 0 }, backward: { "\($0)" })
    // from 5
    bind(\.canSave) { !person.name.isEmpty && person.age > 0 }
    // from 2
  }
  // from 6

  func close() {
    unbindAll()
    (heading, nameField, ageField, canSave) = ("", "", "", false)
  }
  // end
}

let person = Person()
let form = Form()
// from 2
form.show(person)
print(form.heading)  // prints: Jane, 36
person.age = 37
print(form.heading)  // prints: Jane, 37
// from 3
print(form.nameField)  // prints: Jane
form.nameField = "Emma"  // what the user types
print(person.name, "/", form.heading)  // prints: Emma / Emma, 37
// from 4
form.ageField = "38"
print(person.age)  // prints: 38
form.ageField = "400"
print(person.age, form.ageField)  // prints: 150 150
// from 5
form.ageField = ""
print(form.canSave)  // prints: false
form.ageField = "39"
print(form.canSave)  // prints: true
// from 6
form.close()
print(person.name, person.age, form.heading.isEmpty)  // prints: Emma 39 true
