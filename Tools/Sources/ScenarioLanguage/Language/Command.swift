// The commands of the scenario language.
import Foundation
import KeyValueObserving

/// One line of a scenario.
indirect enum Command {
  case new(object: String, kind: String)
  case free(object: String)
  case reset
  case add(Registration, options: NSKeyValueObservingOptions)
  /// Without `context` the call that takes none.
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

/// Who observes what, under which context.
struct Registration {
  let object: String
  let watcher: String
  let path: String
  let context: Int
}

/// What a watcher does when it is told of a change.
struct Reaction {
  let watcher: String
  /// `*` for any.
  let path: String
  let isPrior: Bool
  let times: Int
  let command: Command
}

/// What is done to an ordered collection.
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

/// What is done to a set.
enum SetOperation {
  case add(Literal)
  case remove(Literal)
  case union([Literal])
  case minus([Literal])
  case intersect([Literal])
  case setAll([Literal])
  case removeAll
}

/// A call of one of the model's own accessors.
enum AccessorOperation {
  case ordered(OrderedOperation)
  case set(SetOperation)
}
