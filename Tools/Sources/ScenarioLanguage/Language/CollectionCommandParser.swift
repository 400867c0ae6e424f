// Parses the commands that mutate collections.
import Foundation

extension Command {
  static func collections(_ verb: String, _ reader: inout LineReader) throws -> Command? {
    guard ["arr", "oset", "sets", "acc"].contains(verb) else { return nil }
    let object = try reader.name("the object")
    let path = try reader.path()
    let operation = try reader.word("the operation")
    func unknown() -> ScriptError { ScriptError("\(quoted(operation)) is no operation of \(verb)") }
    switch verb {
    case "sets":
      guard let read = try SetOperation(operation, &reader) else { throw unknown() }
      return .mutateSet(object: object, path: path, read)
    case "acc":
      guard let read = try AccessorOperation(operation, &reader) else { throw unknown() }
      return .accessor(object: object, key: path, read)
    default:
      guard let read = try OrderedOperation(operation, &reader) else { throw unknown() }
      return verb == "arr"
        ? .array(object: object, path: path, read) : .orderedSet(object: object, path: path, read)
    }
  }
}

extension OrderedOperation {
  fileprivate init?(_ name: String, _ reader: inout LineReader) throws {
    switch name {
    case "insert": self = .insert(try reader.index(), try reader.value())
    case "add": self = .add(try reader.value())
    case "remove": self = .remove(try reader.index())
    case "replace": self = .replace(try reader.index(), try reader.value())
    case "removelast": self = .removeLast
    case "removeobj": self = .removeObject(try reader.value())
    case "removeall": self = .removeAll
    case "insertmany": self = .insertMany(try reader.indexes(), try reader.value().elements())
    case "removemany": self = .removeMany(try reader.indexes())
    case "replacemany": self = .replaceMany(try reader.indexes(), try reader.value().elements())
    case "setarray": self = .setAll(try reader.value().elements())
    case "exchange": self = .exchange(try reader.index(), try reader.index())
    case "count": self = .count
    default: return nil
    }
  }
}

extension SetOperation {
  fileprivate init?(_ name: String, _ reader: inout LineReader) throws {
    switch name {
    case "add": self = .add(try reader.value())
    case "remove": self = .remove(try reader.value())
    case "union": self = .union(try reader.value().elements())
    case "minus": self = .minus(try reader.value().elements())
    case "intersect": self = .intersect(try reader.value().elements())
    case "set": self = .setAll(try reader.value().elements())
    case "removeall": self = .removeAll
    default: return nil
    }
  }
}

extension AccessorOperation {
  fileprivate init?(_ name: String, _ reader: inout LineReader) throws {
    switch name {
    case "insert", "remove", "replace", "insertmany", "removemany", "replacemany":
      guard let operation = try OrderedOperation(name, &reader) else { return nil }
      self = .ordered(operation)
    case "addobj": self = .set(.add(try reader.value()))
    case "removeobj": self = .set(.remove(try reader.value()))
    case "union", "minus", "intersect":
      guard let operation = try SetOperation(name, &reader) else { return nil }
      self = .set(operation)
    default: return nil
    }
  }
}
