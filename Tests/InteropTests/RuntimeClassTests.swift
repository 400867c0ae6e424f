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
  private let getTwice: @convention(c) (UnsafeRawPointer) -> Double = { 2 * body($0).pointee.x }
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
        .init(name: "twice", type: "d", getter: function(getTwice), affectedBy: ["x"]),
        .init(name: "flag", type: "B", getter: function(getFlag), setter: function(setFlag), isManual: true),
      ])
  }

  private final class Listener {
    let lines = Lines()
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

    @Test func `A property that the class does not have is a fault, and ends the process`() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        writeFaultCodes()
        let point = try KeyValueRuntimeObject(pointClass.get())
        let _: Double = point.imaginary
      }
      #expect(hasFault(9, result))
    }

    @Test func `A value of another type is a fault, and ends the process`() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        writeFaultCodes()
        let point = try KeyValueRuntimeObject(pointClass.get())
        point.x = "text"
      }
      #expect(hasFault(26, result))
    }

    @Test func `A receiver observes C properties, by typed key path and by name`() throws {
      let point = try KeyValueRuntimeObject(pointClass.get())
      let listener = Listener()
      point.observe(\.x, options: .new, for: listener) { (me, _, change: NSKeyValueObservedChange<Double>) in
        me.lines.add("\(change.newValue!)")
      }
      point.observe(\.flag, for: listener) { (me, _, _: NSKeyValueObservedChange<Bool>) in me.lines.add("flag") }
      point.x = 1.5
      point.source("x").observe(options: .new, for: listener) { me, change in me.lines.add("string \(change.newValue!)")
      }
      point.x = 2.5
      #expect(listener.lines.all == ["1.5", "string 2.5", "2.5"])
      point.stopObserving("x", for: listener)
      point.x = 3.5
      #expect(listener.lines.all.count == 3)
      point.stopObserving("flag", for: listener)
      #expect(point.observationInfo == nil)
    }

    @Test func `stopObserving with a typed key path of a C property leaves properties of the same type`() throws {
      let both = try KeyValueRuntimeClass(
        name: "RuntimePair", instanceSize: MemoryLayout<Body>.size,
        properties: ["x", "y"].map { .init(name: $0, type: "d", getter: function(getX), setter: function(setX)) })
      let (pair, listener) = (try KeyValueRuntimeObject(both), Listener())
      pair.observe(\.x, for: listener) { (me, _, _: NSKeyValueObservedChange<Double>) in me.lines.add("x") }
      pair.observe(\.y, for: listener) { (me, _, _: NSKeyValueObservedChange<Double>) in me.lines.add("y") }
      pair.stopObserving(\.x as KeyPath<KeyValueRuntimeObject, Double>, for: listener)
      pair.x = 1.0
      pair.y = 1.0
      #expect(listener.lines.all == ["y"])
    }

    @Test func `A property notifies when one changes that is declared to affect it`() throws {
      let point = try KeyValueRuntimeObject(pointClass.get())
      let lines = Lines()
      let token = point.observe(\.twice, options: [.new]) { (_, change: NSKeyValueObservedChange<Double>) in
        lines.add("\(change.newValue!)")
      }
      point.x = 1.5
      #expect(lines.all == ["3.0"])
      token.invalidate()
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
