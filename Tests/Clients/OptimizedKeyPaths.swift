// flags: -O | -Onone
// A key path of a subclass, of its superclass, and of an object whose class is only known as the superclass, are of one property.

import KeyValueObserving

@KeyValueObservable
class Base {
  var text = ""
  var count: Int { text.count }
}

@KeyValueObservable
class Derived: Base { var number = 0 }

final class Leaf: Derived {}

@KeyValueObservable
final class Source { var text = "" }

@main
enum OptimizedKeyPaths {
  static func main() {
    let (source, leaf) = (Source(), Leaf())
    let base: Base = leaf

    let first = source.source(\.text).bind(to: base, \.text)
    leaf.unbind(\.text)
    precondition(!first.isActive, "a binding of the superclass's key path, ended with that of the subclass")
    let second = source.source(\.text).bind(to: leaf, \.text)
    base.unbind(\.text)
    precondition(!second.isActive, "a binding of the subclass's key path, ended with that of the superclass")
    let third = leaf.bindTwoWay(\.text, with: source, \.text)
    base.unbind(\.text, from: source, \.text)
    precondition(!third.isActive, "a two-way binding")

    let token = leaf.onChange(of: \.text, for: source) { _, _, _ in }
    base.stopObserving(\.text, for: source)
    precondition(!token.isActive, "an observation of the subclass's key path, ended with that of the superclass")
    let computed = base.onChange(of: \.count, for: source) { _, _, _ in }
    leaf.stopObserving(\.count, for: source)
    precondition(!computed.isActive, "an observation of a computed property")

    leaf.observe(\.text, for: source) { _, _, _ in }
    leaf.observe(\.count, for: source) { _, _, _ in }
    let names = ObservationGraph.current().observations.map(\.keyPath)
    precondition(names.sorted() == ["count", "text"], "\(names)")
    let kinds = ObservationGraph.current().observations.map(\.kind)
    precondition(kinds.contains(.direct), "the subclass's key path is that of a stored property")
    print("key paths of subclasses and superclasses are of one property")
  }
}
