// The implementation of each command.
import CKVO
import Foundation
import KeyValueObserving

extension ScenarioRunner {
  func perform(_ command: Command) throws {
    switch command {
    case .new(let name, let kind): try make(name, kind)
    case .free(let name): try free(name)
    case .reset: forget()
    case .add(let registration, let options): try add(registration, options)
    case .remove(let registration, let withContext): try remove(registration, withContext: withContext)
    case .set(let name, let key, let literal): try object(name).set(key, to: try value(literal))
    case .setRaw(let name, let key, let literal): try object(name).setRaw(key, to: try value(literal))
    case .bumpManual(let name): try model(name).bumpManual()
    case .setBoth(let name, let value): try model(name).setBoth(value)
    case .react(let reaction): add(reaction)
    case .clear(let watcher): clearReactions(of: watcher)
    case .isa(let name): try answerIsa(of: try object(name))
    case .info(let name): try answer { try object(name).observationInfo == nil ? "noinfo" : "info" }
    case .setByPath(let name, let path, let literal):
      try object(name).setValue(try value(literal), forKeyPath: path)
    case .get(let name, let path):
      try answer { describe(try object(name).value(forKeyPath: path)) }
    case .will, .did, .willChangeIndexes, .didChangeIndexes, .willMutateSet, .didMutateSet:
      try announce(command)
    case .array, .orderedSet, .mutateSet, .accessor: try mutate(command)
    }
  }

  /// Returns the instance of the model class with a name.
  func model(_ name: String) throws -> T {
    guard let model = try object(name) as? T else { throw ScriptError("\(name) is no T") }
    return model
  }

  private func add(_ registration: Registration, _ options: NSKeyValueObservingOptions) throws {
    try object(registration.object).addObserver(
      watcher(registration.watcher), forKeyPath: registration.path, options: options, context: registration.pointer)
  }

  private func remove(_ registration: Registration, withContext: Bool) throws {
    let object = try object(registration.object)
    let watcher = watcher(registration.watcher)
    if withContext {
      object.removeObserver(watcher, forKeyPath: registration.path, context: registration.pointer)
    } else {
      object.removeObserver(watcher, forKeyPath: registration.path)
    }
  }

  /// Prints the class of an object, and whether its header refers to the notifying class.
  private func answerIsa(of object: any ScenarioObject) throws {
    let word = object.__keyValueObject
    let isSwizzled = kvo_object_isa(word) != kvo_object_class(word)
    answer { "\(type(of: object).kind) \(isSwizzled ? "swizzled" : "plain")" }
  }

  private func announce(_ command: Command) throws {
    switch command {
    case .will(let name, let key): try object(name).willChangeValue(forKey: key)
    case .did(let name, let key): try object(name).didChangeValue(forKey: key)
    case .willChangeIndexes(let name, let kind, let key, let indexes):
      try object(name).willChange(kind, valuesAt: indexes, forKey: key)
    case .didChangeIndexes(let name, let kind, let key, let indexes):
      try object(name).didChange(kind, valuesAt: indexes, forKey: key)
    case .willMutateSet(let name, let key, let mutation, let literal):
      try object(name).willChangeValue(forKey: key, withSetMutation: mutation, using: try elements(literal))
    case .didMutateSet(let name, let key, let mutation, let literal):
      try object(name).didChangeValue(forKey: key, withSetMutation: mutation, using: try elements(literal))
    default: break
    }
  }

  /// Returns the elements of a collection literal as a set.
  private func elements(_ literal: Literal) throws -> Set<AnyHashable> {
    guard let elements = try value(.set(try literal.elements())) as? Set<AnyHashable> else { return [] }
    return elements
  }
}

extension Registration {
  fileprivate var pointer: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: context) }
}
