// The compared classes: observable ones and the same classes plain, and the operations on them.

import KeyValueObserving

struct Place {
  var x = 0.0
  var y = 0.0
}

@KeyValueObservable
final class Observable {
  var number = 0
  var text = ""
  var place = Place()
  var items: [Int] = []
  var doubled: Int { number &* 2 }
  @NotObserved var scratch = 0
  @NotObserved var drafts: [Int] = []
  class func automaticallyNotifiesObserversOfScratch() -> Bool { false }
  class func automaticallyNotifiesObserversOfDrafts() -> Bool { false }
}

final class Plain {
  var number = 0
  var text = ""
  var place = Place()
  var items: [Int] = []
  var doubled: Int { number &* 2 }
  var scratch = 0
  var drafts: [Int] = []
}

/// Open and public, so that the compiler cannot assume that there is no subclass.
@KeyValueObservable
open class OpenObservable {
  open var number = 0
  public init() {}
}

open class OpenPlain {
  open var number = 0
  public init() {}
}

/// The root of nested key paths.
@KeyValueObservable
final class Owner {
  var head: Observable
  var next: Observable?

  init(head: Observable) {
    self.head = head
    next = head
  }
}

// Each operation is a function that is not inlined, called in a loop, like a program's own method. If it were inlined, the compiler
// would remove the plain store or move it out of the loop.

@inline(never) func set(_ object: Observable, _ value: Int) { object.number = value }
@inline(never) func set(_ object: Plain, _ value: Int) { object.number = value }
@inline(never) func set(_ object: OpenObservable, _ value: Int) { object.number = value }
@inline(never) func set(_ object: OpenPlain, _ value: Int) { object.number = value }
@inline(never) func set(_ object: Observable, _ value: String) { object.text = value }
@inline(never) func set(_ object: Plain, _ value: String) { object.text = value }
@inline(never) func set(_ object: Observable, _ value: Place) { object.place = value }
@inline(never) func set(_ object: Plain, _ value: Place) { object.place = value }
@inline(never) func get(_ object: Observable) -> Int { object.number }
@inline(never) func get(_ object: Plain) -> Int { object.number }
@inline(never) func get(_ object: Observable) -> String { object.text }
@inline(never) func get(_ object: Plain) -> String { object.text }
@inline(never) func get(_ object: Observable) -> Place { object.place }
@inline(never) func get(_ object: Plain) -> Place { object.place }
@inline(never) func add(_ value: Int, to object: Observable) { object.number += value }
@inline(never) func add(_ value: Int, to object: Plain) { object.number += value }
@inline(never) func append(_ object: Observable, _ value: Int) { object.items.append(value) }
@inline(never) func append(_ object: Plain, _ value: Int) { object.items.append(value) }
@inline(never) func replaceHead(_ object: Owner, _ value: Observable) { object.head = value }

extension Workload {
  /// Sets a property of an object to a different value each time, and keeps other objects, such as tokens, until the end.
  static func setting(_ object: Observable, keeping others: Any = ()) -> Workload {
    Workload { count in
      times(count) { set(object, $0) }
      withExtendedLifetime(others) {}
    }
  }

  static func setting(_ object: Plain) -> Workload {
    Workload { count in
      times(count) { set(object, $0) }
    }
  }
}
