// Mutations of collections, through the proxies of key-value coding and through the model's accessors.
import Foundation
import KeyValueObserving

extension ScenarioRunner {
  func mutate(_ array: KeyValueMutableArray<Any>, _ operation: OrderedOperation) throws {
    switch operation {
    case .insert(let index, let literal): array.insert(try element(literal), at: index)
    case .add(let literal): array.append(try element(literal))
    case .remove(let index): array.remove(at: index)
    case .replace(let index, let literal): array.replace(at: [index], with: [try element(literal)])
    case .removeLast: array.removeLast()
    case .removeObject(let literal): array.remove(try element(literal))
    case .removeAll: array.removeAll()
    case .insertMany(let indexes, let literals): array.insert(try elements(literals), at: indexes)
    case .removeMany(let indexes): array.remove(at: indexes)
    case .replaceMany(let indexes, let literals): array.replace(at: indexes, with: try elements(literals))
    case .setAll(let literals): array.setArray(try elements(literals))
    case .exchange(let first, let second): array.exchange(first, second)
    case .count: answer { String(array.count) }
    }
  }

  func mutate(_ ordered: KeyValueMutableOrderedSet<AnyHashable>, _ operation: OrderedOperation) throws {
    switch operation {
    case .insert(let index, let literal): ordered.insert(try member(literal), at: index)
    case .add(let literal): ordered.append(try member(literal))
    case .remove(let index): ordered.remove(at: index)
    case .replace(let index, let literal): ordered.replace(at: index, with: try member(literal))
    case .removeLast: ordered.removeLast()
    case .removeObject(let literal): ordered.remove(try member(literal))
    case .removeAll: ordered.removeAll()
    case .insertMany(let indexes, let literals): ordered.insert(try literals.map(member), at: indexes)
    case .removeMany(let indexes): ordered.remove(at: indexes)
    case .replaceMany(let indexes, let literals): ordered.replace(at: indexes, with: try literals.map(member))
    case .setAll(let literals): ordered.setArray(try literals.map(member))
    case .exchange(let first, let second): ordered.exchange(first, second)
    case .count: answer { String(ordered.count) }
    }
  }

  func mutate(_ set: KeyValueMutableSet<AnyHashable>, _ operation: SetOperation) throws {
    switch operation {
    case .add(let literal): set.insert(try member(literal))
    case .remove(let literal): set.remove(try member(literal))
    case .union(let literals): set.formUnion(try members(literals))
    case .minus(let literals): set.subtract(try members(literals))
    case .intersect(let literals): set.formIntersection(try members(literals))
    case .setAll(let literals): set.setSet(try members(literals))
    case .removeAll: set.removeAll()
    }
  }

  func call(_ operation: OrderedOperation, of model: T, _ key: String) throws {
    switch operation {
    case .insert(let index, let literal): try model.insert([try element(literal)], at: [index], in: key)
    case .remove(let index): try model.remove(at: [index], from: key)
    case .replace(let index, let literal): try model.replace(at: [index], in: key, with: [try element(literal)])
    case .insertMany(let indexes, let literals): try model.insert(try elements(literals), at: indexes, in: key)
    case .removeMany(let indexes): try model.remove(at: indexes, from: key)
    case .replaceMany(let indexes, let literals):
      try model.replace(at: indexes, in: key, with: try elements(literals))
    default: throw ScriptError("there is no accessor for that")
    }
  }

  func call(_ operation: SetOperation, of model: T, _ key: String) throws {
    switch operation {
    case .add(let literal): try model.union(try members([literal]), in: key)
    case .remove(let literal): try model.minus(try members([literal]), in: key)
    case .union(let literals): try model.union(try members(literals), in: key)
    case .minus(let literals): try model.minus(try members(literals), in: key)
    case .intersect(let literals): try model.intersect(try members(literals), in: key)
    case .setAll, .removeAll: throw ScriptError("there is no accessor for that")
    }
  }

  private func element(_ literal: Literal) throws -> Any { try value(literal) ?? NSNull() }
  private func elements(_ literals: [Literal]) throws -> [Any] { try literals.map(element) }
  private func member(_ literal: Literal) throws -> AnyHashable { try hashable(try element(literal)) }
  func members(_ literals: [Literal]) throws -> Set<AnyHashable> { Set(try literals.map(member)) }
}
