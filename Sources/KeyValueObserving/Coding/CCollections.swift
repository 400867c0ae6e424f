// Collections on the border: Swift's as C enumerates them, and those of C as Swift values.

import CKVO

/// A Swift collection that C sees with its elements.
protocol CCollection {
  /// "[T]" for a list, "<T>" for a set.
  static var cEncoding: String { get }
  /// The elements of a C view; `nil` if one of them has another type.
  init?(cValue: kvo_value)
  var cElements: [Any] { get }
}

extension Array: CCollection {
  static var cEncoding: String { "[\(KeyValueObserving.cEncoding(of: Element.self))]" }
  init?(cValue: kvo_value) {
    guard let elements = typedElements(ofCValue: cValue, as: Element.self) else { return nil }
    self = elements
  }
  var cElements: [Any] { self }
}

extension ContiguousArray: CCollection {
  static var cEncoding: String { Array<Element>.cEncoding }
  init?(cValue: kvo_value) {
    guard let elements = typedElements(ofCValue: cValue, as: Element.self) else { return nil }
    self.init(elements)
  }
  var cElements: [Any] { Array(self) }
}

extension Set: CCollection {
  static var cEncoding: String { "<\(KeyValueObserving.cEncoding(of: Element.self))>" }
  init?(cValue: kvo_value) {
    guard let elements = typedElements(ofCValue: cValue, as: Element.self) else { return nil }
    self.init(elements)
  }
  var cElements: [Any] { Array(self) }
}

/// A `kvo_collection`, followed by what its function uses.
private struct EnumeratedCollection {
  var header: kvo_collection
  let elements: [Any]
}

extension CCollection {
  /// Calls `body` with the address of the `kvo_collection` that enumerates the elements. It is valid until `body` returns.
  func withCCollection(_ body: (UnsafeRawPointer) -> Void) {
    let elements = cElements
    let header = kvo_collection(
      struct_size: MemoryLayout<kvo_collection>.size, count: elements.count,
      element: { collection, position, reader, argument in
        let elements = UnsafeRawPointer(collection).assumingMemoryBound(to: EnumeratedCollection.self).pointee.elements
        guard position < elements.count else { return KVO_ERROR_OUT_OF_RANGE }
        withCValue(elements[position]) { reader($0, argument) }
        return KVO_OK
      })
    withUnsafePointer(to: EnumeratedCollection(header: header, elements: elements)) { body(UnsafeRawPointer($0)) }
  }
}

/// Returns the elements of a C collection as Swift values, typed by their encodings.
func elements(ofCValue value: kvo_value) -> [Any] {
  var elements: [Any] = []
  forEachElement(ofCValue: value) {
    elements.append(swiftValue(of: $0) ?? Any?.none as Any)
    return true
  }
  return elements
}

/// Returns the elements of a C collection; `nil` if one has another type.
private func typedElements<Element>(ofCValue value: kvo_value, as type: Element.Type) -> [Element]? {
  var value = value
  guard kvo_value_collection(&value) != nil else { return nil }
  var elements: [Element] = []
  let areAll = forEachElement(ofCValue: value) {
    guard let element = swiftValue(of: $0, as: type) ?? (swiftValue(of: $0) as Any as? Element) else { return false }
    elements.append(element)
    return true
  }
  return areAll ? elements : nil
}

/// Calls `body` for each element until it returns `false`; returns whether it was called for all.
@discardableResult
private func forEachElement(ofCValue value: kvo_value, _ body: (kvo_value) -> Bool) -> Bool {
  var value = value
  for position in 0..<kvo_value_count(&value) {
    var goesOn = false
    let status = reading {
      goesOn = body($0)
    } from: {
      kvo_value_element(&value, position, $0, $1)
    }
    guard status == KVO_OK, goesOn else { return false }
  }
  return true
}
