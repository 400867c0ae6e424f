// Classes that a Swift program defines at run time, with C functions as setters.
#if Macros
  import CKVO
  import Foundation
  import KeyValueObserving
  import Testing

  private struct Body {
    var header = kvo_object()
    var x = 0.0
    var flag = false
  }

  private func body(_ object: UnsafeRawPointer) -> UnsafePointer<Body> { object.assumingMemoryBound(to: Body.self) }
  private func body(_ object: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Body> {
    object.assumingMemoryBound(to: Body.self)
  }

  private let getX: @convention(c) (UnsafeRawPointer) -> Double = { body($0).pointee.x }
  private let setX: @convention(c) (UnsafeMutableRawPointer, Double) -> Void = { body($0).pointee.x = $1 }
  private let getFlag: @convention(c) (UnsafeRawPointer) -> Bool = { body($0).pointee.flag }
  private let setFlag: @convention(c) (UnsafeMutableRawPointer, Bool) -> Void = { body($0).pointee.flag = $1 }

  private func function<Pointer>(_ pointer: Pointer) -> KeyValueFunction {
    unsafeBitCast(pointer, to: KeyValueFunction.self)
  }

  private let pointClass = Result {
    try KeyValueRuntimeClass(
      name: "RuntimePoint", instanceSize: MemoryLayout<Body>.size,
      properties: [
        .init(name: "x", type: "d", getter: function(getX), setter: function(setX)),
        .init(name: "flag", type: "B", getter: function(getFlag), setter: function(setFlag), isManual: true),
      ])
  }

  private let linkClass = Result {
    try KeyValueRuntimeClass(
      name: "RuntimeLink", instanceSize: MemoryLayout<Link>.size,
      properties: [
        .init(name: "x", type: "d", getter: function(getLinkX), setter: function(setLinkX)),
        .init(name: "twice", type: "d", getter: function(getTwice), affectedBy: ["x"]),
        .init(name: "next", type: "@", getter: function(getNext), setter: function(setNext)),
      ])
  }

  private struct Link {
    var header = kvo_object()
    var x = 0.0
    var next: UnsafeMutableRawPointer?
  }

  private func link(_ object: UnsafeRawPointer) -> UnsafeMutablePointer<Link> {
    UnsafeMutableRawPointer(mutating: object).assumingMemoryBound(to: Link.self)
  }

  private let getLinkX: @convention(c) (UnsafeRawPointer) -> Double = { link($0).pointee.x }
  private let setLinkX: @convention(c) (UnsafeMutableRawPointer, Double) -> Void = { link($0).pointee.x = $1 }
  private let getTwice: @convention(c) (UnsafeRawPointer) -> Double = { 2 * link($0).pointee.x }
  private let getNext: @convention(c) (UnsafeRawPointer) -> UnsafeMutableRawPointer? = { link($0).pointee.next }
  private let setNext: @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer?) -> Void = {
    link($0).pointee.next = $1
  }

  /// Declares that its properties depend on properties of objects of C.
  @KeyValueObservable
  private final class Chart {
    var link: KeyValueRuntimeObject?
    @NotObserved var title = "chart"
    var near: String { title }
    var far: String { title }
    class var keyPathsForValuesAffectingNear: Set<String> { ["link.twice"] }
    class var keyPathsForValuesAffectingFar: Set<String> { ["link.next.twice"] }
  }

  private final class CListener: KeyValueObserver {
    let lines = Lines()

    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      lines.add("\(keyPath!) \(change![.newKey]!)")
    }
  }

  @Suite("Classes defined at run time")
  struct RuntimeClassTests {
    @Test func `A property set through its C setter notifies Swift observers`() throws {
      let point = try KeyValueRuntimeObject(pointClass.get())
      let lines = Lines()
      let token = point.observe(\.x, options: [.old, .new]) { (_, change: NSKeyValueObservedChange<Double>) in
        lines.add("\(change.oldValue!)>\(change.newValue!)")
      }
      let setter = unsafeBitCast(
        point.setter(forKey: "x")!, to: (@convention(c) (UnsafeMutableRawPointer, Double) -> Void).self)
      setter(point.pointer, 1.5)
      point.x = 2.5
      #expect(lines.all == ["0.0>1.5", "1.5>2.5"])
      token.invalidate()
      point.x = 3.0
      #expect(lines.all.count == 2)
      #expect(try point.value(forKey: "x", as: Double.self) == 3)
    }

    @Test func `A declared path through C objects depends on what affects the C property at its end`() throws {
      let (first, second) = (try KeyValueRuntimeObject(linkClass.get()), try KeyValueRuntimeObject(linkClass.get()))
      let (chart, lines) = (Chart(), Lines())
      chart.link = first
      let near = chart.observe(\.near) { _, _ in lines.add("near") }
      let far = chart.observe(\.far) { _, _ in lines.add("far") }
      first.x = 1.0
      #expect(lines.all == ["near"])
      try first.setValue(second as KeyValueRuntimeObject?, forKey: "next")
      #expect(lines.all == ["near", "far"])
      second.x = 1.0
      #expect(lines.all == ["near", "far", "far"])
      near.invalidate()
      far.invalidate()
    }

    @Test func `A property that the class does not have is a fault, and ends the process`() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        KeyValueFault.setHandler { fault in
          FileHandle.standardError.write(Data("fault \(fault.code)\n".utf8))
          return .ignore
        }
        let point = try KeyValueRuntimeObject(pointClass.get())
        let _: Double = point.imaginary
      }
      #expect(result.map { String(decoding: $0.standardErrorContent, as: UTF8.self).contains("fault 9\n") } == true)
    }

    @Test func `A value of another type is a fault, and ends the process`() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        KeyValueFault.setHandler { fault in
          FileHandle.standardError.write(Data("fault \(fault.code)\n".utf8))
          return .ignore
        }
        let point = try KeyValueRuntimeObject(pointClass.get())
        point.x = "text"
      }
      #expect(result.map { String(decoding: $0.standardErrorContent, as: UTF8.self).contains("fault 26\n") } == true)
    }

    @Test func `A controller observes and unobserves C properties, by typed key path and by name`() throws {
      let point = try KeyValueRuntimeObject(pointClass.get())
      let listener = CListener()
      let controller = KeyValueObservationController(observer: listener, duplicates: .replace)
      controller.observe(point, \.x, options: .new) { (me, _, change: NSKeyValueObservedChange<Double>) in
        me.lines.add("\(change.newValue!)")
      }
      controller.observe(point, \.flag) { (me, _, _: NSKeyValueObservedChange<Bool>) in me.lines.add("flag") }
      point.x = 1.5
      controller.observe(point, "x", options: .new) { me, _, change in me.lines.add("string \(change.newValue!)") }
      point.x = 2.5
      #expect(listener.lines.all == ["1.5", "string 2.5"])
      controller.unobserve(point, "x")
      point.x = 3.5
      #expect(listener.lines.all.count == 2)
      #expect(controller.debugDescription.contains("\"flag\""))
      controller.unobserve(point, "flag")
      #expect(point.observationInfo == nil)
    }

    @Test func `stopObserving with a typed key path of a C property leaves properties of the same type`() throws {
      let both = try KeyValueRuntimeClass(
        name: "RuntimePair", instanceSize: MemoryLayout<Body>.size,
        properties: ["x", "y"].map { .init(name: $0, type: "d", getter: function(getX), setter: function(setX)) })
      let (pair, listener) = (try KeyValueRuntimeObject(both), CListener())
      pair.observe(\.x, for: listener) { (me, _, _: NSKeyValueObservedChange<Double>) in me.lines.add("x") }
      pair.observe(\.y, for: listener) { (me, _, _: NSKeyValueObservedChange<Double>) in me.lines.add("y") }
      pair.stopObserving(\.x as KeyPath<KeyValueRuntimeObject, Double>, for: listener)
      pair.x = 1.0
      pair.y = 1.0
      #expect(listener.lines.all == ["y"])
    }

    @Test func `A classic observer of a C object ends with it, and is not notified of equal values`() throws {
      var point: KeyValueRuntimeObject? = try KeyValueRuntimeObject(pointClass.get())
      var listener: CListener? = CListener()
      let lines = listener!.lines
      point!.addObserver(listener!, forKeyPath: "x", options: [.new, .distinct, .endsWithObserver])
      point!.x = 0.0
      point!.x = 1.5
      #expect(lines.all == ["x 1.5"])
      listener = nil
      point!.x = 2.5
      #expect(point!.observationInfo == nil && lines.all.count == 1)
      let other = CListener()
      point!.addObserver(other, forKeyPath: "x", options: .endsWithObject)
      point = nil
    }

    @Test func `A manual property notifies by announcement only`() throws {
      let point = try KeyValueRuntimeObject(pointClass.get())
      let lines = Lines()
      let token = point.observe(\.flag, options: [.new]) { (_, change: NSKeyValueObservedChange<Bool>) in
        lines.add("\(change.newValue!)")
      }
      point.flag = true
      #expect(lines.all.isEmpty)
      point.willChangeValue(forKey: "flag")
      point.didChangeValue(forKey: "flag")
      #expect(lines.all == ["true"])
      token.invalidate()
    }

    @Test(arguments: ["", "{point}", "(u=id)", "b3", "v", "z", "{p=d", "[4d]"])
    func `A setter that cannot be intercepted is rejected at registration`(type: String) {
      #expect(throws: KeyValueRuntimeError.self) {
        try KeyValueRuntimeClass(
          name: "Refused \(type)", instanceSize: 64,
          properties: [.init(name: "p", type: type, setter: function(setX))])
      }
      #expect(KeyValueRuntimeClass(named: "Refused \(type)") == nil)
    }

    @Test func `A name can be registered only once`() throws {
      _ = try pointClass.get()
      #expect(throws: KeyValueRuntimeError.self) {
        try KeyValueRuntimeClass(name: "RuntimePoint", instanceSize: 8, properties: [])
      }
    }
  }
#endif
