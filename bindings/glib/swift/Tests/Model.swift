// The model and the GObjects of these tests.

import CGLib
import KeyValueObserving

@KeyValueObservable
final class Document {
  var title: String
  var pages = 0
  var isDraft = false
  var ratio = 0.5
  var chapters: [Document] = []
  var tags: [String] = []

  init(_ title: String = "") { self.title = title }
}

/// A GObject with a string that can be set, "warning", without GTK.
func makePassword() -> UnsafeMutableRawPointer {
  UnsafeMutableRawPointer(g_tls_password_new(G_TLS_PASSWORD_NONE, "description"))
}

/// Returns whether a GObject is alive, until `body` and afterwards.
final class Lifetime {
  private(set) var hasEnded = false

  init(of object: UnsafeMutableRawPointer) {
    g_object_weak_ref(
      object.assumingMemoryBound(to: GObject.self),
      { data, _ in Unmanaged<Lifetime>.fromOpaque(data!).takeRetainedValue().hasEnded = true },
      Unmanaged.passRetained(self).toOpaque())
  }
}
