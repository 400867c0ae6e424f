// What is compared: an observable class, the same class plain, and the list of closures that one writes by hand.

import KeyValueObserving

@KeyValueObservable
final class Observable {
  var number = 0
  var text = ""
  var items: [Int] = []
}

final class Plain {
  var number = 0
  var text = ""
  var items: [Int] = []
}

/// Observation as one writes it by hand: a list of closures, called in `didSet` with the old and the new value.
final class Handwritten {
  var handlers: [(Int, Int) -> Void] = []
  var number = 0 {
    didSet {
      for handler in handlers { handler(oldValue, number) }
    }
  }
}

// Each operation is a call that is not inlined, in a loop, as a program's own method would make it: inlined into the loop, the
// plain store would be dropped or made once.

@inline(never) func set(_ object: Observable, _ value: Int) { object.number = value }
@inline(never) func set(_ object: Plain, _ value: Int) { object.number = value }
@inline(never) func set(_ object: Handwritten, _ value: Int) { object.number = value }
@inline(never) func set(_ object: Observable, _ value: String) { object.text = value }
@inline(never) func set(_ object: Plain, _ value: String) { object.text = value }
@inline(never) func get(_ object: Observable) -> Int { object.number }
@inline(never) func get(_ object: Plain) -> Int { object.number }
@inline(never) func append(_ object: Observable, _ value: Int) { object.items.append(value) }
@inline(never) func append(_ object: Plain, _ value: Int) { object.items.append(value) }

/// Strings too long to be stored inline, so that each store counts references.
let texts = ["a text that is too long for its variable", "another text that is too long for it"]
