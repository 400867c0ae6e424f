// The commands of the scenario language.
import Foundation
import KeyValueObserving

/// One line of a scenario.
indirect enum Command {
  case new(object: String, kind: String)
  case free(object: String)
  case reset
  case add(Registration, options: NSKeyValueObservingOptions)
  /// Without `context`, the method that has no context parameter.
  case remove(Registration, withContext: Bool)
  case set(object: String, key: String, Literal)
  case setByPath(object: String, path: String, Literal)
  case setRaw(object: String, key: String, Literal)
  case get(object: String, path: String)
  case will(object: String, key: String)
  case did(object: String, key: String)
  case willChangeIndexes(object: String, NSKeyValueChange, key: String, IndexSet)
  case didChangeIndexes(object: String, NSKeyValueChange, key: String, IndexSet)
  case willMutateSet(object: String, key: String, NSKeyValueSetMutationKind, Literal)
  case didMutateSet(object: String, key: String, NSKeyValueSetMutationKind, Literal)
  case array(object: String, path: String, OrderedOperation)
  case orderedSet(object: String, path: String, OrderedOperation)
  case mutateSet(object: String, path: String, SetOperation)
  case accessor(object: String, key: String, AccessorOperation)
  case bumpManual(object: String)
  case setBoth(object: String, Int)
  case react(Reaction)
  case clear(watcher: String)
  case isa(object: String)
  case info(object: String)
}

/// An observer, the key path that it observes, and its context.
struct Registration {
  let object: String
  let watcher: String
  let path: String
  let context: Int
}

/// A command that a watcher runs when it is notified.
struct Reaction {
  let watcher: String
  /// The key path; `*` for any.
  let path: String
  let isPrior: Bool
  let times: Int
  let command: Command
}

/// A mutation of an ordered collection.
enum OrderedOperation {
  case insert(Int, Literal)
  case add(Literal)
  case remove(Int)
  case replace(Int, Literal)
  case removeLast
  case removeObject(Literal)
  case removeAll
  case insertMany(IndexSet, [Literal])
  case removeMany(IndexSet)
  case replaceMany(IndexSet, [Literal])
  case setAll([Literal])
  case exchange(Int, Int)
  case count
}

/// A mutation of a set.
enum SetOperation {
  case add(Literal)
  case remove(Literal)
  case union([Literal])
  case minus([Literal])
  case intersect([Literal])
  case setAll([Literal])
  case removeAll
}

/// A call of one of the model's accessors.
enum AccessorOperation {
  case ordered(OrderedOperation)
  case set(SetOperation)
}
