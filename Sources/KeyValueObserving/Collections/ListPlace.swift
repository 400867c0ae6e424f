// The storage of a proxy's elements: a property, storage owned by the proxy, or none.

import CKVO

/// The storage of a list whose elements are accessed as type `Element`.
class ListPlace<Element> {
  /// The number of elements; `nil` if the list is `nil` or there is no such property.
  var count: Int? { nil }
  /// Returns the element at an index, which must be valid.
  func element(at position: Int) -> Element { fatalError("there is no element") }
  var elements: [Element] { [] }
  /// Changes the list, notifies, and returns the removed or replaced elements; `nil` after a fault.
  func change(_ edit: ListEdit<Element>) -> [Element]? { nil }
  /// The name of the list for reports.
  var name: String { "a collection that does not exist" }
  var site: SourceLocation? { nil }
}

/// A list that only a proxy refers to.
final class OwnList<Element>: ListPlace<Element> {
  private var items: [Element] = []

  override var count: Int? { items.count }
  override func element(at position: Int) -> Element { items[position] }
  override var elements: [Element] { items }
  override var name: String { "a list" }

  override func change(_ edit: ListEdit<Element>) -> [Element]? {
    if let outside = edit.positionOutside(count: items.count) {
      raiseOutside(outside, count: items.count, of: name, site: nil)
      return nil
    }
    let removed = edit.kind == .insertion ? [] : items.picked(edit.positions)
    items.apply(edit)
    return removed
  }
}

/// A list that is the value of a property.
final class PropertyList<List: ListValue, Element>: ListPlace<Element> {
  private let property: CollectionProperty
  private let access: PropertyAccess<List>

  init(_ property: CollectionProperty, _ access: PropertyAccess<List>) {
    self.property = property
    self.access = access
  }

  override var count: Int? { access.read().itemCount }
  override func element(at position: Int) -> Element { property.element(access.read().item(at: position)) }
  override var name: String { property.name }
  override var site: SourceLocation? { property.site }

  override var elements: [Element] {
    let items = access.read().itemArray
    return recast(items, elementsAs: Element.self) ?? items.map { property.element($0) }
  }

  override func change(_ edit: ListEdit<Element>) -> [Element]? {
    guard let modify = access.modify else {
      property.raiseReadOnly()
      return nil
    }
    guard let edit = edit.map({ recast($0, elementsAs: List._Item.self) }) else {
      property.raiseMismatch(unsuitable(edit.elements, as: List._Item.self)!, expected: List._Item.self)
      return nil
    }
    guard permits(edit, count) else { return nil }
    // The elements are retained until the access ends: their deinitializers may run observers that read the list.
    var removed: [List._Item]?
    property.notify(edit.kind, at: edit.positions) {
      edit.kind == .insertion ? nil : List.holding(removed ?? access.read().picking(edit.positions))
    } newElements: {
      edit.kind == .removal ? nil : List.holding(edit.elements)
    } store: { _ in
      var count: Int?
      modify { list in
        count = list.itemCount
        guard let count, edit.positionOutside(count: count) == nil else { return }
        removed = edit.kind == .insertion ? [] : list.picking(edit.positions)
        list.edit(edit)
      }
      return removed != nil || permits(edit, count)
    }
    return removed.map { recast($0, elementsAs: Element.self) ?? [] }
  }

  private func permits(_ edit: ListEdit<List._Item>, _ count: Int?) -> Bool {
    guard let count else {
      property.raiseNil()
      return false
    }
    guard let outside = edit.positionOutside(count: count) else { return true }
    raiseOutside(outside, count: count, of: name, site: site)
    return false
  }
}
