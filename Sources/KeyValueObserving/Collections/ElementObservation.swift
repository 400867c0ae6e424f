// Observation of the elements of an array. The array itself cannot be observed.

import CKVO
public import Foundation

extension Array where Element: KeyValueObservable {
  /// Registers an observer with each of the elements at the given indexes, as `addObserver(_:forKeyPath:options:context:)` does.
  ///
  /// An index out of range is fault KVO0037, and no element is observed. Elements that are added to the array later are not
  /// observed. In a notification the object is the element.
  public func addObserver(
    _ observer: any KeyValueObserver, toObjectsAt indexes: IndexSet, forKeyPath keyPath: String,
    options: NSKeyValueObservingOptions = [], context: UnsafeMutableRawPointer? = nil,
    userInfo: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    for element in elements(at: indexes, SourceLocation(file: fileID, line: line)) {
      element.addObserver(
        observer, forKeyPath: keyPath, options: options, context: context, userInfo: userInfo, fileID: fileID,
        line: line)
    }
  }

  /// Removes the newest registration of an observer with each of the elements at the given indexes, whatever its context.
  ///
  /// An index out of range is fault KVO0037, and nothing is removed. It is fault KVO0002 if the observer is not registered.
  public func removeObserver(
    _ observer: any KeyValueObserver, fromObjectsAt indexes: IndexSet, forKeyPath keyPath: String,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    for element in elements(at: indexes, SourceLocation(file: fileID, line: line)) {
      element.removeObserver(observer, forKeyPath: keyPath, fileID: fileID, line: line)
    }
  }

  /// Removes the newest registration of an observer and a context with each of the elements at the given indexes; `nil` matches
  /// only `nil`.
  ///
  /// An index out of range is fault KVO0037, and nothing is removed. It is fault KVO0002 if the observer is not registered.
  public func removeObserver(
    _ observer: any KeyValueObserver, fromObjectsAt indexes: IndexSet, forKeyPath keyPath: String,
    context: UnsafeMutableRawPointer?, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    for element in elements(at: indexes, SourceLocation(file: fileID, line: line)) {
      element.removeObserver(observer, forKeyPath: keyPath, context: context, fileID: fileID, line: line)
    }
  }

  /// Returns the elements, or none after a fault if an index is out of range.
  private func elements(at indexes: IndexSet, _ site: SourceLocation) -> [Element] {
    guard let outside = indexes.first(where: { !indices.contains($0) }) else { return indexes.map { self[$0] } }
    raiseOutside(outside, count: count, of: "the array", site: site)
    return []
  }
}

// Methods marked unavailable, because arrays, sets and dictionaries are values: changes of them notify nobody.

extension Array {
  @available(
    *, unavailable,
    message:
      "An array cannot be observed. Observe the property that holds it, or its elements with addObserver(_:toObjectsAt:forKeyPath:)."
  )
  public func addObserver(
    _ observer: any KeyValueObserver, forKeyPath keyPath: String, options: NSKeyValueObservingOptions = [],
    context: UnsafeMutableRawPointer? = nil
  ) {}

  @available(
    *, unavailable,
    message:
      "An array cannot be observed. Remove observers of its elements with removeObserver(_:fromObjectsAt:forKeyPath:)."
  )
  public func removeObserver(
    _ observer: any KeyValueObserver, forKeyPath keyPath: String, context: UnsafeMutableRawPointer? = nil
  ) {}
}

extension Set {
  @available(*, unavailable, message: "A set cannot be observed. Observe the property that holds it.")
  public func addObserver(
    _ observer: any KeyValueObserver, forKeyPath keyPath: String, options: NSKeyValueObservingOptions = [],
    context: UnsafeMutableRawPointer? = nil
  ) {}

  @available(*, unavailable, message: "A set cannot be observed. Observe the property that holds it.")
  public func removeObserver(
    _ observer: any KeyValueObserver, forKeyPath keyPath: String, context: UnsafeMutableRawPointer? = nil
  ) {}
}

extension Dictionary {
  @available(
    *, unavailable,
    message:
      "A dictionary cannot be observed. Observe the property that holds it, or use a KeyValueDictionary, which can."
  )
  public func addObserver(
    _ observer: any KeyValueObserver, forKeyPath keyPath: String, options: NSKeyValueObservingOptions = [],
    context: UnsafeMutableRawPointer? = nil
  ) {}

  @available(*, unavailable, message: "A dictionary cannot be observed. Observe the property that holds it.")
  public func removeObserver(
    _ observer: any KeyValueObserver, forKeyPath keyPath: String, context: UnsafeMutableRawPointer? = nil
  ) {}
}
