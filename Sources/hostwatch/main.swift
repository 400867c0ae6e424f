import KeyValueObserving
import Foundation
#if Macros
final class Log: @unchecked Sendable { var lines: [String] = [] }
@KeyValueObservable final class Person { var name = "Ann" ; weak var boss: Person?; var partner: Person? }
@KeyValueObservable
final class Document: NSObject {
  var title = ""
  var isFavorite = false
  var author: Person?
  @NotObserved var scratch = 0
  var summary: String { "\(title) by \(author?.name ?? "?")" }
}
let document = Document()
let token = document.observe(\.title, options: [.old, .new]) { document, change in
  print(change.oldValue ?? "-", "->", change.newValue ?? "-")
}
let t2 = document.observe(\.summary, options: [.old, .new, .initial]) { print("summary", $1.oldValue ?? "-", "->", $1.newValue ?? "-") }
let t3 = document.observe(\.author?.name, options: [.old, .new]) { print("name", $1.oldValue as Any, "->", $1.newValue as Any) }
document.title = "Hello"
document.author = Person()
document.author!.name = "Bob"
document.author = nil
document.title += " world"
token.invalidate(); t2.invalidate(); t3.invalidate()
document.title = "silent"
print(document.observationInfo as Any)
#endif
