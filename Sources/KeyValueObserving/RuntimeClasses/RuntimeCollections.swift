// Mutable proxies of the lists and sets of C objects.

import CKVO

/// A list or a set of a C object, by its key.
private struct RuntimeCollection {
  let object: KeyValueRuntimeObject
  let key: String
  let site: SourceLocation

  var name: String { "\"\(key)\" of \(object.className)@\(hexadecimal(object.pointer))" }

  /// Raises what a status stands for. Returns whether the call has succeeded.
  func succeeded(_ status: kvo_status) -> Bool {
    switch status {
    case KVO_OK: return true
    case KVO_ERROR_READ_ONLY: raise(.undefinedKey(of: object, key: key, .set), .coding(site))
    default: raiseFault(KVO_FAULT_TYPE_MISMATCH, "\(name): \(String(cString: kvo_last_error()))", site: site)
    }
    return false
  }

  /// Returns an element as the type that the proxy has.
  func element<Element>(_ value: Any?, as type: Element.Type) -> Element {
    if let element = recast(value as Any, as: type) { return element }
    raiseFault(KVO_FAULT_TYPE_MISMATCH, "\(name) holds elements that are no \(type)", site: site)
    // There is no value to return, whatever the policy is.
    fatalError("\(name) holds \(value.map { "\($0)" } ?? "nil"), which is no \(type)")
  }

  /// Calls `body` with C views of elements.
  func withViews<Element>(_ elements: [Element], _ body: (UnsafePointer<kvo_value>?) -> kvo_status) -> kvo_status {
    var views: [kvo_value] = []
    var status = KVO_OK
    func next() {
      guard views.count < elements.count else {
        status = views.withUnsafeBufferPointer { body($0.baseAddress) }
        return
      }
      withCValue(elements[views.count]) { view in
        views.append(view.pointee)
        next()
      }
    }
    next()
    return status
  }
}

private final class RuntimeList<Element>: ListPlace<Element> {
  private let of: RuntimeCollection
  init(_ of: RuntimeCollection) { self.of = of }

  override var name: String { of.name }
  override var site: SourceLocation? { of.site }
  override var count: Int? {
    var count = 0
    return of.succeeded(kvo_list_count(of.object.pointer, of.key, &count)) ? count : nil
  }

  override func element(at position: Int) -> Element {
    var value: Any?
    _ = reading {
      value = swiftValue(of: $0)
    } from: {
      kvo_list_get(of.object.pointer, of.key, position, $0, $1)
    }
    return of.element(value, as: Element.self)
  }

  override var elements: [Element] { (0..<(count ?? 0)).map { element(at: $0) } }

  override func change(_ edit: ListEdit<Element>) -> [Element]? {
    guard let count else { return nil }
    if let outside = edit.positionOutside(count: count) {
      raiseOutside(outside, count: count, of: name, site: site)
      return nil
    }
    let removed = edit.kind == .insertion ? [] : edit.positions.map { element(at: $0) }
    let (object, key, positions) = (of.object.pointer, of.key, edit.positions)
    let status = of.withViews(edit.elements) { views in
      positions.withPointer { indexes in
        switch edit.kind {
        case .insertion: kvo_list_insert_several(object, key, indexes, positions.count, views)
        case .removal: kvo_list_remove_several(object, key, indexes, positions.count)
        default: kvo_list_replace_several(object, key, indexes, positions.count, views)
        }
      }
    }
    return of.succeeded(status) ? removed : nil
  }
}

private final class RuntimeSet<Element: Hashable>: SetPlace<Element> {
  private let of: RuntimeCollection
  init(_ of: RuntimeCollection) { self.of = of }

  override var members: Set<Element> {
    var members: Set<Element> = []
    _ = reading {
      let value = swiftValue(of: $0)
      members.insert(of.element(value, as: Element.self))
    } from: {
      kvo_members_for_each(of.object.pointer, of.key, $0, $1)
    }
    return members
  }

  /// Each member is added or removed by a change of its own, because the accessors of C take one.
  override func mutate(
    _ kind: NSKeyValueSetMutationKind, _ argument: (_ present: () -> Set<Element>) -> Set<Element>
  ) -> SetEdit<Element>? {
    let edit = SetEdit(kind, argument { members }, of: members)
    for (elements, call) in [(edit.removed, kvo_members_remove), (edit.added, kvo_members_add)] {
      for element in elements {
        let status = of.withViews([element]) { call(of.object.pointer, of.key, $0!) }
        guard of.succeeded(status) else { return nil }
      }
    }
    return edit
  }
}

extension KeyValueRuntimeObject {
  /// The storage of a list; `nil` if the class has no such list.
  nonisolated func runtimeList<Element>(forKey key: String, _ site: SourceLocation) -> ListPlace<Element>? {
    guard typeOfProperty(key)?.hasPrefix("[") == true else { return nil }
    return RuntimeList(RuntimeCollection(object: self, key: key, site: site))
  }

  /// The storage of a set; `nil` if the class has no such set.
  nonisolated func runtimeSet<Element: Hashable>(forKey key: String, _ site: SourceLocation) -> SetPlace<Element>? {
    guard typeOfProperty(key)?.hasPrefix("<") == true else { return nil }
    return RuntimeSet(RuntimeCollection(object: self, key: key, site: site))
  }

  private nonisolated func typeOfProperty(_ key: String) -> String? {
    kvo_object_class(pointer).flatMap { kvo_class_property($0, key) }.map { String(cString: kvo_property_type($0)) }
  }
}
