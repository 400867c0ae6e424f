// The source of a string key path.

import CKVO
import Foundation

extension KeyValueObservable {
  /// Returns the source of a string key path of this object, which the source does not retain.
  ///
  /// ```swift
  /// document.source("author.name", as: String?.self).onChange(for: self) { me, old, new in me.label.text = new ?? "" }
  /// ```
  /// For key paths that are known only at run time; those of ``source(_:)`` are checked by the compiler. A key path that a classic observer
  /// cannot observe is the same fault here.
  ///
  /// - Parameters:
  ///   - keyPath: As in ``addObserver(_:forKeyPath:options:context:userInfo:fileID:line:)``.
  ///   - type: The type of the values. They are converted to it as by ``setValue(_:forKey:)``, and `nil` and `NSNull` are `nil` of an
  ///     optional. A value that cannot be converted is fault KVO0026, and observers are not notified of it. Without a type the values are
  ///     those of a change dictionary: `NSNull` for `nil`.
  public nonisolated func source<Value>(
    _ keyPath: String, as type: Value.Type = Any.self
  ) -> KeyValueSource<Value> {
    let reference = UnretainedObject(self)
    return KeyValueSource(
      of: { reference.load().map { [SourceOrigin($0, keyPath)] } ?? [] },
      read: {
        guard let object = reference.load() else { return nil }
        guard let value = try? KeyPathWalk.observedValue(of: object, at: keyPath) else { return nil }
        return try? converted(dictionaryValue(value), to: Value.self)
      }, isOfKeyPath: true,
      subscribe: { request, sink in
        guard let object = reference.load() else { return [] }
        let last = request.options.contains(.whole) ? object.lastList(at: keyPath, request.description) : nil
        let relay = KeyRelay(last == nil ? request.description : request.description.readingAgain) { object, change in
          var change = NSKeyValueObservedChange<Any>(change)
          if let last { change = last.settingOfWhole(change, (object as! Self).list(at: keyPath)) }
          do throws(ConversionFailure) {
            sink(try change.converted(to: Value.self).limited(to: request.options))
          } catch {
            raise(error, keyPath, of: object as! Self, request.site)
          }
        }
        let refused: NSKeyValueObservingOptions = last == nil ? .ends : [.ends, .whole, .collectionChanges]
        let options = request.options.subtracting(refused).union([.old, .new])
        let observation = object.add(.receiver(relay), keyPath, options, nil, request.site)
        return observation == 0 ? [] : [observation]
      })
  }

  /// Returns what keeps the collection of a key path until the observation ends.
  private nonisolated func lastList(at keyPath: String, _ observer: ObserverDescription) -> LastList {
    let reference = UnretainedObject(self)
    let isStored = components(ofPath: keyPath).map { ClassicObservation.areStored($0, of: self) } ?? true
    let last = LastList(on: isStored ? nil : observer.evaluator) { reference.load()?.list(at: keyPath) }
    observer.end?.remember(last)
    return last
  }

  /// Returns the value of a key path if it is a collection. Another property is not read: a thread may be setting it.
  private nonisolated func list(at keyPath: String) -> (any KeyValueCodedCollection)? {
    guard KeyValueClass.of(self).property(named: keyPath)?.isCollection ?? true else { return nil }
    guard let value = try? KeyPathWalk.observedValue(of: self, at: keyPath) else { return nil }
    return unwrapped(value) as? any KeyValueCodedCollection
  }
}

/// The last value of a collection. The notification of a change of elements has only these elements.
private final class LastList: RememberedValue, @unchecked Sendable {
  private let last: Guarded<(any KeyValueCodedCollection)?>
  private let evaluator: ActorGate?
  private let read: () -> (any KeyValueCodedCollection)?

  init(on evaluator: ActorGate?, _ read: @escaping () -> (any KeyValueCodedCollection)?) {
    (self.evaluator, self.read) = (evaluator, read)
    last = Guarded(read())
  }

  private func exchange(_ new: (any KeyValueCodedCollection)?) -> (any KeyValueCodedCollection)? {
    var previous = new
    last.withLock { swap(&$0, &previous) }
    return previous
  }

  override func resumed(deliveringMissed: Bool) {
    if deliveringMissed { return }
    _ = exchange(evaluator?.mayEvaluate ?? true ? unrecorded(read) : nil)
  }

  func settingOfWhole(
    _ change: NSKeyValueObservedChange<Any>, _ list: @autoclosure () -> (any KeyValueCodedCollection)?
  ) -> NSKeyValueObservedChange<Any> {
    let new = change.kind == .setting ? change.newValue as? any KeyValueCodedCollection : list()
    let old = change.isPrior ? last.withLock { $0 } : exchange(new)
    return change.kind == .setting
      ? change : NSKeyValueObservedChange<Any>(kind: .setting, newValue: new, oldValue: old, isPrior: change.isPrior)
  }
}

extension NSKeyValueObservedChange<Any> {
  fileprivate func converted<To>(to type: To.Type) throws(ConversionFailure) -> NSKeyValueObservedChange<To> {
    func convert(_ value: Any?) throws(ConversionFailure) -> To? {
      guard let value else { return nil }
      return try KeyValueObserving.converted(value, to: type)
    }
    return try NSKeyValueObservedChange<To>(
      // The old value was delivered with the change before, or refused then.
      kind: .init(rawValue: kind.rawValue) ?? .setting, newValue: convert(newValue), oldValue: try? convert(oldValue),
      indexes: indexes, isPrior: isPrior)
  }
}

private func raise<Object: KeyValueObservable>(
  _ failure: ConversionFailure, _ keyPath: String, of object: Object, _ site: SourceLocation
) {
  let expected = _typeName(failure.expected, qualified: false)
  let given = failure.given.flatMap { $0 is NSNull ? nil : _typeName(Swift.type(of: $0), qualified: false) }
  raiseFault(
    KVO_FAULT_TYPE_MISMATCH,
    "the value of \"\(keyPath)\" of \(NamedValue(object).name) is \(given ?? "nil"), and its source has \(expected)",
    help: "write source(\"\(keyPath)\", as: \(given ?? "\(expected)?").self)", site: site)
}
