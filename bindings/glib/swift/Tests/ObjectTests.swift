// GObjects as KVO objects.

import CGLib
import Foundation
import KeyValueObserving
import KeyValueObservingGLib
import Testing

// Serialized, because the default main context has one owner at a time.
@Suite("A GObject in Swift", .serialized)
struct ObjectTests {
  @Test("its properties are read and set as members")
  func members() {
    let password = GLib.object(makePassword())
    g_object_unref(password.gobject)
    password.warning = "first"
    #expect(password.warning == "first")
    let client = GLib.object(taking: g_socket_client_new())
    client.enable_proxy = false
    #expect(client.enable_proxy == false)
    #expect(client.value(forKeyPath: "timeout") as? UInt32 == 0)
    client.setValue(3, forKeyPath: "timeout")
    #expect(client.timeout == UInt32(3))
  }

  @Test("it is the target of a binding, and of a two-way one")
  func bindings() {
    let (document, password) = (Document("a"), GLib.object(taking: makePassword()))
    document.source(\.title).map { $0 + "!" }.bind(to: password, \.warning)
    #expect(password.warning == "a!")
    document.title = "b"
    #expect(password.warning == "b!")
    let computed = GLib.object(taking: makePassword())
    computed.bind(\.warning) { "\(document.title)?" }  // NULL before
    #expect(computed.warning == "b?")
    let other = GLib.object(taking: makePassword())
    other.bindTwoWay(\.warning, with: document, \.title, forward: { $0 ?? "" }, backward: { Optional($0) })
    #expect(other.warning == "b")
    g_object_set_property(other.gobject, "warning", value("c"))
    #expect(document.title == "c" && password.warning == "c!")
  }

  @Test("observers are notified of what C sets")
  func observed() {
    let password = GLib.object(taking: makePassword())
    nonisolated(unsafe) var seen: [String] = []
    let token = password.observe(\.warning, options: .new) { (_, change: NSKeyValueObservedChange<String?>) in
      seen.append((change.newValue ?? nil) ?? "nil")
    }
    let byString = password.source("warning").observe(options: .new) { change in
      seen.append("\(change.newValue ?? "nil")")
    }
    g_object_set_property(password.gobject, "warning", value("x"))
    #expect(seen.sorted() == ["x", "x"])
    token.invalidate()
    byString.invalidate()
  }

  @Test("there is one Swift object for each")
  func identity() {
    let pointer = makePassword()
    let password = GLib.object(pointer)
    #expect(GLib.object(pointer) === password)
    g_object_unref(pointer)
  }

  @Test("a binding lasts as long as C has the GObject, and none keeps it")
  func lifetimes() {
    let document = Document("a")
    let pointer = makePassword()
    let lifetime = Lifetime(of: pointer)
    weak var object: KeyValueRuntimeObject?
    do {
      let password = GLib.object(pointer)
      document.source(\.title).bind(to: password, \.warning)
      object = password
    }
    document.title = "b"
    #expect(object?.warning == "b")
    #expect(!lifetime.hasEnded)
    g_object_unref(pointer)
    #expect(lifetime.hasEnded && object == nil)
    document.title = "c"
    #expect(document.observationInfo == nil)
  }

  @Test("Swift keeps it after C has dropped it")
  func kept() {
    let pointer = makePassword()
    let lifetime = Lifetime(of: pointer)
    var password: KeyValueRuntimeObject? = GLib.object(pointer)
    g_object_unref(pointer)
    #expect(!lifetime.hasEnded)
    password?.warning = "still here"
    g_object_ref(pointer)
    password = nil
    #expect(!lifetime.hasEnded)
    #expect(GLib.object(pointer).warning == "still here")
    g_object_unref(pointer)
    #expect(lifetime.hasEnded)
  }

  @Test("a floating reference is left to the container")
  func floating() {
    let pointer = UnsafeMutableRawPointer(g_object_new_with_properties(g_initially_unowned_get_type(), 0, nil, nil)!)
    let lifetime = Lifetime(of: pointer)
    do { _ = GLib.object(pointer) }
    #expect(!lifetime.hasEnded && g_object_is_floating(pointer) != 0)
    g_object_ref_sink(pointer)
    g_object_unref(pointer)
    #expect(lifetime.hasEnded)
  }

  @Test("the last Swift reference may be dropped on another thread")
  func otherThread() {
    let pointer = makePassword()
    let lifetime = Lifetime(of: pointer)
    nonisolated(unsafe) var objects = [GLib.object(pointer)]
    g_object_unref(pointer)
    let thread = Thread { objects.removeAll() }
    thread.start()
    while !thread.isFinished { Thread.sleep(forTimeInterval: 0.001) }
    while !lifetime.hasEnded { g_main_context_iteration(nil, gboolean(0)) }
  }

  @Test("when it is disposed of, its bindings end, and it can still be read")
  func disposed() {
    let (document, password) = (Document("a"), GLib.object(taking: makePassword()))
    document.source(\.title).bind(to: password, \.warning)
    g_object_run_dispose(password.gobject)
    document.title = "b"
    #expect(password.warning == "a")
    #expect(document.observationInfo == nil)
  }

  @Test("an object that is another one's property is read as such")
  func ofObject() {
    let client = GLib.object(taking: g_socket_client_new())
    let resolver = UnsafeMutableRawPointer(g_simple_proxy_resolver_new("direct://", nil)!)
    let value: KeyValueRuntimeObject = GLib.object(taking: resolver)
    client.proxy_resolver = value
    let read: KeyValueRuntimeObject? = client.proxy_resolver
    #expect(read?.default_proxy == "direct://")
  }
}

extension KeyValueRuntimeObject {
  var gobject: UnsafeMutablePointer<GObject> { GLib.pointer(of: self)!.assumingMemoryBound(to: GObject.self) }
}

/// A GValue of a string, for one call.
private func value(_ string: String) -> UnsafePointer<GValue> {
  let value = UnsafeMutablePointer<GValue>.allocate(capacity: 1)
  value.initialize(to: GValue())
  g_value_init(value, GType(16 << 2))
  g_value_set_string(value, string)
  return UnsafePointer(value)
}
