// Parses the commands that mutate collections.
import Foundation
import KeyValueObserving

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

extension LineReader {
  mutating func collections(_ verb: String) throws -> Command? {
    guard ["arr", "oset", "sets", "acc"].contains(verb) else { return nil }
    let (object, path, operation) = (try name("the object"), try path(), try word("the operation"))
    switch verb {
    case "arr":
      if let read = try ordered(operation) {
        return { try $0.mutate($0.object(object).mutableArrayValue(forKeyPath: path), read) }
      }
    case "oset":
      if let read = try ordered(operation) {
        return { try $0.mutate($0.object(object).mutableOrderedSetValue(forKeyPath: path), read) }
      }
    case "sets":
      if let read = try unordered(operation) {
        return { try $0.mutate($0.object(object).mutableSetValue(forKeyPath: path), read) }
      }
    default: return try accessor(object, path, operation)
    }
    throw unknown(operation, of: verb)
  }

  private func unknown(_ operation: String, of verb: String) -> ScriptError {
    ScriptError("\(quoted(operation)) is no operation of \(verb)")
  }

  /// Parses a call of one of the model's accessors.
  private mutating func accessor(_ object: String, _ key: String, _ operation: String) throws -> Command {
    switch operation {
    case "insert", "remove", "replace", "insertmany", "removemany", "replacemany":
      let read = try ordered(operation)!
      return { try $0.call(read, of: $0.model(object), key) }
    case "addobj", "removeobj", "union", "minus", "intersect":
      let read = try unordered(operation.replacing("obj", with: ""))!  // "add" is "addobj" here
      return { try $0.call(read, of: $0.model(object), key) }
    default: throw unknown(operation, of: "acc")
    }
  }

  private mutating func ordered(_ name: String) throws -> OrderedOperation? {
    switch name {
    case "insert": .insert(try index(), try value())
    case "add": .add(try value())
    case "remove": .remove(try index())
    case "replace": .replace(try index(), try value())
    case "removelast": .removeLast
    case "removeobj": .removeObject(try value())
    case "removeall": .removeAll
    case "insertmany": .insertMany(try indexes(), try value().elements())
    case "removemany": .removeMany(try indexes())
    case "replacemany": .replaceMany(try indexes(), try value().elements())
    case "setarray": .setAll(try value().elements())
    case "exchange": .exchange(try index(), try index())
    case "count": .count
    default: nil
    }
  }

  private mutating func unordered(_ name: String) throws -> SetOperation? {
    switch name {
    case "add": .add(try value())
    case "remove": .remove(try value())
    case "union": .union(try value().elements())
    case "minus": .minus(try value().elements())
    case "intersect": .intersect(try value().elements())
    case "set": .setAll(try value().elements())
    case "removeall": .removeAll
    default: nil
    }
  }
}
