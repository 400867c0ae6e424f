// The classes that the tests of receivers and delivery observe with.

import KeyValueObserving

@KeyValueObservable
final class Author {
  var name: String

  init(_ name: String) { self.name = name }
}

/// A class without isolation, which stays in one region.
@KeyValueObservable
final class Document {
  var title = ""
  var pages = 0
  var tags: [String] = []
  var author: Author?
  var summary: String { "\(title) (\(pages))" }
}

/// A receiver that can be observed itself.
@KeyValueObservable
final class Panel {
  var caption = ""
  var log: [String] = []
}

/// A receiver that cannot be observed.
final class Listener {
  var log: [String] = []
}

/// A class that several threads use.
@KeyValueObservable
final class SharedDocument: @unchecked Sendable {
  var title = ""
  var pages = 0
  var author: Author?

  init() {}
}
