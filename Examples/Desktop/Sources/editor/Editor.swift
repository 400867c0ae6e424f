// The first window: an entry that edits a model, a label and a title that follow it.

import CAdwaita
import KeyValueObserving
import KeyValueObservingGLib

@KeyValueObservable
final class Document {
  var title = "Untitled"
  var pages = 1
}

@main
@MainActor
struct Editor {
  static let document = Document()

  static func main() {
    GLib.runMainQueue()
    let application = gtk_application_new(nil, G_APPLICATION_NON_UNIQUE)!
    GLib.connect(application, "activate") { _ in show(in: application) }
    g_application_run(UnsafeMutableRawPointer(application).assumingMemoryBound(to: GApplication.self), 0, nil)
  }

  static func show(in application: UnsafeMutablePointer<GtkApplication>) {
    let window = GLib.object(gtk_application_window_new(application))
    let box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12)!
    let (entry, label, button) = (gtk_entry_new()!, gtk_label_new(nil)!, gtk_button_new_with_label("Add a page")!)
    for widget in [entry, label, button] {
      gtk_box_append(UnsafeMutableRawPointer(box).assumingMemoryBound(to: GtkBox.self), widget)
    }
    GLib.object(entry).bindTwoWay(\.text, with: document, \.title)
    GLib.object(label).bind(\.label) { "\(document.title), \(document.pages) pages" }
    document.source(\.title).bind(to: window, \.title)
    GLib.connect(button, "clicked") { _ in document.pages += 1 }
    window.child = GLib.object(box)
    window.visible = true
  }
}
