// The program of the tutorial FindingACrash, with all its steps: Tests/Tutorials/README.md says how they are marked.
import KeyValueObserving

@KeyValueObservable
final class Document {
  var title = "Untitled"
}

// until 3
final class Panel: KeyValueObserver {
  private(set) var caption = ""

  func show(_ document: Document) {
    document.addObserver(self, forKeyPath: "title", options: [.new])
  }

  func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?, context: UnsafeMutableRawPointer?
  ) {
    caption = change?[.newKey] as? String ?? ""
  }
}
// from 3
final class Panel {
  private(set) var caption = ""

  func show(_ document: Document) {
    document.onChange(of: \.title, for: self) { me, _, title in me.caption = title }
  }
}
// end

let panel = Panel()

@MainActor
func edit() {
  let document = Document()
  panel.show(document)
  document.title = "Emma"
  print(panel.caption)  // prints: Emma
}  // nothing refers to the document any more

edit()  // until 3: ends with KVO0001
