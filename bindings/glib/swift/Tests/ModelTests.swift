// KVO objects as GObjects.

import CGLib
import Foundation
import KeyValueObserving
import KeyValueObservingGLib
import Testing

@Suite("A Swift model in GLib")
struct ModelTests {
  @Test("the wrapper's properties are the object's, and lead back to it")
  func wrapper() {
    let document = Document("a")
    let wrapper = GLib.wrapper(of: document)
    defer { g_object_unref(wrapper) }
    let password = GLib.object(taking: makePassword())
    g_object_bind_property(wrapper, "title", password.gobject, "warning", G_BINDING_SYNC_CREATE)
    document.title = "b"
    #expect(password.warning == "b")
    #expect(GLib.model(of: wrapper, as: Document.self) === document)
    #expect(GLib.model(of: wrapper, as: Other.self) == nil)
    #expect(GLib.model(of: nil, as: Document.self) == nil)
  }

  @Test("a list model emits the indexes of each change; its items lead back to the objects")
  func list() {
    let book = Document()
    let model = GLib.listModel(of: book, \.chapters)
    defer { g_object_unref(UnsafeMutableRawPointer(model)) }
    let changes = Changes()
    changes.connect(model)
    let (first, second) = (Document("one"), Document("two"))
    book.mutableArrayValue(for: \.chapters).append(contentsOf: [first, second])
    book.mutableArrayValue(for: \.chapters).remove(at: 0)
    #expect(changes.seen == ["0 -0 +2", "0 -1 +0"])
    let item = g_list_model_get_item(model, 0)
    #expect(GLib.model(of: item, as: Document.self) === second)
    g_object_unref(item)
  }

  @Test("strings are items with a string")
  func strings() {
    let book = Document()
    book.tags = ["a", "b"]
    let model = GLib.listModel(of: book, \.tags)
    defer { g_object_unref(UnsafeMutableRawPointer(model)) }
    let item = GLib.object(taking: g_list_model_get_item(model, 1)!)
    #expect(item.string == "b")
  }

  @Test("settings are stored and read again, and do not keep the model")
  func settings() throws {
    let folder = try SchemaFolder()
    let settings = try #require(folder.settings())
    weak var gone: Document?
    do {
      let document = Document("unset")
      settings.bind("title", to: document, \.title)
      settings.bind("pages", to: document, \.pages)
      settings.bind("draft", to: document, \.isDraft)
      settings.bind("ratio", to: document, \.ratio)
      #expect(document.title == "Untitled" && document.pages == 3 && document.isDraft && document.ratio == 0.25)
      document.title = "stored"
      document.pages = 7
      gone = document
    }
    #expect(gone == nil)
    let again = Document()
    try #require(folder.settings()).bind("title", to: again, \.title)
    #expect(again.title == "stored")
    #expect(g_settings_get_int(settings.pointer, "pages") == 7)
    #expect(Settings("org.example.Absent") == nil)
  }

  @Test("a property that is bound to other settings is stored there alone, also after the end of the first ones")
  func otherSettings() throws {
    let (one, two) = (try SchemaFolder(), try SchemaFolder())
    let document = Document()
    var first = one.settings()
    let second = try #require(two.settings())
    try #require(first).bind("title", to: document, \.title)
    document.title = "first"
    second.bind("title", to: document, \.title)
    #expect(document.title == "Untitled")
    first = nil
    document.title = "second"
    let (inFirst, inSecond) = (Document(), Document())
    let again = (one: try #require(one.settings()), two: try #require(two.settings()))
    again.one.bind("title", to: inFirst, \.title)
    again.two.bind("title", to: inSecond, \.title)
    #expect((inFirst.title, inSecond.title) == ("first", "second"))
  }
}

@KeyValueObservable
private final class Other {
  var title = ""
}

private final class Changes {
  private(set) var seen: [String] = []

  func connect(_ model: OpaquePointer) {
    let handler: @convention(c) (OpaquePointer, UInt32, UInt32, UInt32, UnsafeMutableRawPointer) -> Void = {
      Unmanaged<Changes>.fromOpaque($4).takeUnretainedValue().seen.append("\($1) -\($2) +\($3)")
    }
    g_signal_connect_data(
      UnsafeMutableRawPointer(model), "items-changed", unsafeBitCast(handler, to: GCallback.self),
      Unmanaged.passUnretained(self).toOpaque(), nil, GConnectFlags(rawValue: 0))
  }
}

/// A folder with a compiled schema; its settings are in memory.
private final class SchemaFolder {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kvo-glib-\(UUID())")
  private let source: OpaquePointer
  private let backend: UnsafeMutablePointer<GSettingsBackend>

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(
      """
      <schemalist><schema id="org.example.Documents" path="/org/example/documents/">
        <key name="title" type="s"><default>'Untitled'</default></key>
        <key name="pages" type="i"><default>3</default><range min="0" max="50"/></key>
        <key name="draft" type="b"><default>true</default></key>
        <key name="ratio" type="d"><default>0.25</default></key>
      </schema></schemalist>
      """.utf8
    ).write(to: folder.appendingPathComponent("documents.gschema.xml"))
    let compiler = try Process.run(URL(fileURLWithPath: "/usr/bin/glib-compile-schemas"), arguments: [folder.path])
    compiler.waitUntilExit()
    source = g_settings_schema_source_new_from_directory(folder.path, nil, gboolean(0), nil)
    backend = g_memory_settings_backend_new()
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func settings() -> Settings? { Settings("org.example.Documents", in: source, backend: backend) }
}
