// What the compiler says about likely mistakes, in the form of its verifier.
import Dispatch
import KeyValueObserving

@KeyValueObservable
final class Author {
  var name = ""
}

@KeyValueObservable
final class Document {
  var title = ""
  var pages = 0
  var author: Author?
  let id = 1
}

final class Plain {  // expected-note {{does not conform to the 'Sendable' protocol}}
  var text = ""
}

final class NotObservable {
  var title = ""
}

func argumentsThatDoNotExist(_ document: Document, _ plain: Plain) {
  // expected-error@+1 {{onChange has no options. Write observe(_:options:for:), or initial: true}}
  document.onChange(of: \.title, options: [.old, .new], for: plain) { plain, _, title in plain.text = title }
  // expected-error@+1 {{.onChange(for:).}}
  document.onChange(of: \.title, \.pages, for: plain) { plain, title, pages in plain.text = "\(title) \(pages)" }
  // expected-error@+1 {{Write withCoalescedChanges(of: objects)}}
  withCoalescedChanges(document) { document.title = "a" }
}

func bindings(_ document: Document, _ other: Document) {
  // expected-error@+1 {{or object.bindTwoWay(_:with:_:)}}
  document.bind(\.pages, to: other, \.pages)
  // expected-error@+1 {{Write source.bind(to: object}}
  document.bind(\.pages, to: other.source(\.pages))
  // expected-error@+1 {{with the expression in braces}}
  document.bind(\.pages, to: other.pages + 1)
  // expected-error@+1 {{cannot convert value of type 'ReferenceWritableKeyPath<Document, Int>'}}
  document.bindTwoWay(\.title, with: other, \.pages)  // expected-note {{expected to be equal}}
  // expected-error@+1 {{cannot convert value of type}}
  document.source(\.title).bind(to: other, \.id)
}

func existential(_ object: any KeyValueObservable, _ plain: Plain) {
  // expected-error@+2 {{cannot be used on value of type 'any KeyValueObservable'; consider using a generic constraint instead}}
  // expected-error@+1 {{has no member 'title'}}
  object.onChange(of: \.title, for: plain) { plain, _, title in plain.text = title }
}

func closures(_ document: Document, _ plain: Plain) {
  // expected-error@+1 {{expects 3 arguments, but 1 was used in closure body}}
  document.onChange(of: \.title, for: plain) { title in print(title) }
  // expected-error@+1 {{expects 2 arguments, but 1 was used in closure body}}
  document.onChange(of: \.title) { title in print(title) }
  // expected-error@+1 {{expects 2 arguments, but 1 was used in closure body}}
  _ = document.observe(\.title, options: .new) { change in print(change) }
  // expected-error@+1 {{expects 3 arguments, but 1 was used in closure body}}
  document.source(\.title).delivered(on: .main).onChange(for: plain) { title in print(title) }
}

func keyPaths(_ document: Document, _ plain: Plain) {
  // expected-error@+1 {{has no member 'tilte'}}
  document.onChange(of: \.tilte, for: plain) { plain, _, title in plain.text = title }
  // expected-error@+3 {{must be unwrapped to refer to member 'name'}}
  // expected-note@+2 {{chain the optional using '?'}}
  // expected-note@+1 {{force-unwrap using '!'}}
  document.onChange(of: \.author.name, for: plain) { plain, _, name in print(name) }
}

func token(_ document: Document) {
  // expected-warning@+1 {{result of call to 'observe(_:options:fileID:line:changeHandler:)' is unused}}
  document.observe(\.title) { _, _ in }
}

func observers(_ document: Document, _ plain: Plain) {
  // expected-error@+1 {{argument type 'Plain' does not conform to expected type 'KeyValueObserver'}}
  document.addObserver(plain, forKeyPath: "title", options: [], context: nil)
}

func withoutTheMacro(_ object: NotObservable) {
  // expected-error@+2 {{value of type 'NotObservable' has no member 'observe'}}
  // expected-error@+1 {{cannot infer key path type from context}}
  _ = object.observe(\.title) { _, _ in }
}

@KeyValueObservable
final class WithLazy {
  // expected-error@+2 {{'lazy' property 'text' cannot be observed, for its first value comes from a read}}
  // expected-note@+1 {{insert '@NotObserved'}}
  lazy var text = ""
}

// A value that is not Sendable, for another thread.
func delivery(_ document: Document, _ plain: Plain) {
  // expected-error@+1 {{type 'Plain' does not conform to the 'Sendable' protocol}}
  document.source(\.title).delivered(on: .main).onChange(for: plain) { plain, _, title in plain.text = title }
}
