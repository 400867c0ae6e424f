// Key-value coding of C objects: owned ones, borrowed ones, and on a path with Swift objects.
#if Macros
  import CKVO
  import CSupport
  import Foundation
  import KeyValueObserving
  import Testing

  private struct Gauge {
    var header = kvo_object()
    var level: Int8 = 0
    var scale = 0.0
    var isOn = false
    var _raw: Int32 = 0
    var next: KeyValueObjectReference?
    var memory: UnsafeMutableRawPointer?
  }

  private typealias Instance = UnsafeMutableRawPointer

  private func gauge(_ object: Instance) -> UnsafeMutablePointer<Gauge> {
    object.assumingMemoryBound(to: Gauge.self)
  }

  private let getLevel: @convention(c) (Instance) -> Int8 = { gauge($0).pointee.level }
  private let setLevel: @convention(c) (Instance, Int8) -> Void = { gauge($0).pointee.level = $1 }
  private let getScale: @convention(c) (Instance) -> Double = { gauge($0).pointee.scale }
  private let setScale: @convention(c) (Instance, Double) -> Void = { gauge($0).pointee.scale = $1 }
  private let getOn: @convention(c) (Instance) -> Bool = { gauge($0).pointee.isOn }
  private let setOn: @convention(c) (Instance, Bool) -> Void = { gauge($0).pointee.isOn = $1 }
  private let getRaw: @convention(c) (Instance) -> Int32 = { gauge($0).pointee._raw }
  private let getNext: @convention(c) (Instance) -> KeyValueObjectReference? = { gauge($0).pointee.next }
  private let setNext: @convention(c) (Instance, KeyValueObjectReference?) -> Void = { gauge($0).pointee.next = $1 }
  private let getMemory: @convention(c) (Instance) -> Instance? = { gauge($0).pointee.memory }
  private let setMemory: @convention(c) (Instance, Instance?) -> Void = { gauge($0).pointee.memory = $1 }

  private func property<Getter, Setter>(
    _ name: String, _ type: String, _ getter: Getter, _ setter: Setter?
  ) -> KeyValueRuntimeClass.Property {
    .init(
      name: name, type: type, getter: unsafeBitCast(getter, to: KeyValueFunction.self),
      setter: setter.map { unsafeBitCast($0, to: KeyValueFunction.self) })
  }

  private let gaugeClass = Result {
    try KeyValueRuntimeClass(
      name: "CodedGauge", instanceSize: MemoryLayout<Gauge>.size,
      properties: [
        property("level", "c", getLevel, setLevel), property("scale", "d", getScale, setScale),
        property("isOn", "B", getOn, setOn), property("_raw", "i", getRaw, KeyValueFunction?.none),
        property("next", "@", getNext, setNext), property("memory", "^v", getMemory, setMemory),
      ])
  }

  @KeyValueObservable
  private final class Panel {
    var gauge: KeyValueRuntimeObject?
    var gauges: [KeyValueRuntimeObject] = []
    var scale: Double { (try? gauge?.value(forKey: "scale")) ?? -1 }
    var codedScale: Double { gauge?.value(forKey: "scale") as? Double ?? -1 }
  }

  @Suite("Key-value coding of C objects")
  struct RuntimeObjectTests {
    private let gauge: KeyValueRuntimeObject

    init() throws { gauge = try KeyValueRuntimeObject(gaugeClass.get()) }

    /// The protocol type is necessary: the class's own `setValue` is the typed one, which throws.
    private var coded: any KeyValueObservable { gauge }

    @Test func `Values are read and set by key, converted to the property's type, and notify once`() {
      #expect(gauge.changes(of: "level") { coded.setValue("5", forKey: "level") } == ["level 0>5"])
      #expect(coded.value(forKey: "level") as? Int8 == 5)
      coded.setValue(2, forKey: "scale")
      #expect(coded.value(forKey: "scale") as? Double == 2)
      #expect(coded.dictionaryWithValues(forKeys: ["scale", "next"])["next"] is NSNull)
    }

    @Test func `A property isOn is found by the key on, also by observers`() {
      #expect(gauge.changes(of: "on") { coded.setValue(1, forKey: "on") } == ["on false>true"])
      #expect(coded.value(forKey: "on") as? Bool == true)
      #expect(coded.value(forKey: "raw") as? Int32 == 0)
    }

    @Test func `A value of the wrong type is KVO0026 with the C class's name, and nil for a number KVO0035`() {
      var raised: [Raised] = []
      let changes = gauge.changes(of: "level") {
        raised = faults {
          coded.setValue(300, forKey: "level")
          coded.setValue(nil, forKey: "level")
        }
      }
      #expect(changes.isEmpty && coded.value(forKey: "level") as? Int8 == 0)
      #expect(raised.map(\.code) == [26, 35])
      #expect(
        raised.first?.summary
          == #"cannot set "level" of CodedGauge: expected Int8, was given Int (the number cannot be held exactly)"#)
      #expect(
        raised.last?.sentence
          == "[<CodedGauge 0x> setNilValueForKey]: could not set nil as the value for the key level.")
    }

    @Test func `A key that the class does not have, or that is read-only, is undefined`() {
      #expect(
        refused { coded.value(forKey: "nothing") }.first?.sentence?.hasPrefix("[<CodedGauge 0x> valueFor") == true)
      #expect(faults { coded.setValue(1, forKey: "_raw") }.map(\.code) == [9])
      #expect(faults { coded.setValue(1, forKey: "nothing") }.map(\.code) == [9])
    }

    @Test func `Objects and pointers may be nil`() throws {
      let next = try KeyValueRuntimeObject(gaugeClass.get())
      coded.setValue(next, forKey: "next")
      coded.setValue(3, forKeyPath: "next.level")
      #expect(coded.value(forKeyPath: "next.level") as? Int8 == 3)
      coded.setValue(nil, forKey: "next")
      #expect(coded.value(forKey: "next") == nil)
      let memory = UnsafeMutableRawPointer(next.pointer)
      coded.setValue(memory, forKey: "memory")
      #expect(coded.value(forKey: "memory") as? UnsafeMutableRawPointer == memory)
      coded.setValue(nil, forKey: "memory")
      #expect(coded.value(forKey: "memory") == nil)
    }

    @Test func `C objects work in paths and collections of Swift objects`() throws {
      let panel = Panel()
      panel.gauge = gauge
      let changes = panel.changes(of: "gauge.scale") { panel.setValue(1.5, forKeyPath: "gauge.scale") }
      #expect(changes == ["gauge.scale 0.0>1.5"])
      panel.gauges = [gauge, try KeyValueRuntimeObject(gaugeClass.get())]
      #expect(panel.value(forKeyPath: "gauges.@sum.scale") as? Double == 1.5)
      #expect(panel.changes(of: "gauges.@max.level") { coded.setValue(7, forKey: "level") }.count == 1)
    }

    @Test func `A computed property that reads a C object by a key follows it`() {
      let panel = Panel()
      panel.gauge = gauge
      #expect(panel.changes(of: "scale") { coded.setValue(1.5, forKey: "scale") } == ["scale 0.0>1.5"])
      #expect(panel.changes(of: "codedScale") { coded.setValue(2.5, forKey: "scale") } == ["codedScale 1.5>2.5"])
    }

    @Test func `Objects owned by C code, with strings and structures`() throws {
      let object = UnsafeMutableRawPointer(csupport_shape_create()).assumingMemoryBound(to: kvo_object.self)
      defer { kvo_object_destroy(object) }
      let borrowed: any KeyValueObservable = KeyValueRuntimeObject(borrowing: object)
      borrowed.setValue("square", forKey: "name")
      #expect(borrowed.value(forKey: "name") as? String == "square")
      let rect = csupport_rect(x: 1, y: 2, width: 3, height: 4)
      borrowed.setValue(rect, forKey: "rect")
      let bytes = try #require(borrowed.value(forKey: "rect") as? Data)
      #expect(bytes.count == MemoryLayout<csupport_rect>.size)
      borrowed.setValue(csupport_rect(), forKey: "rect")
      borrowed.setValue(bytes, forKey: "rect")
      #expect(borrowed.value(forKey: "rect") as? Data == bytes)
      #expect(faults { borrowed.setValue(1, forKey: "rect") }.map(\.code) == [26])
      #expect(faults { borrowed.setValue(Data([1]), forKey: "rect") }.map(\.code) == [26])
      #expect(faults { borrowed.setValue(nil, forKey: "rect") }.map(\.code) == [35])
    }

    @Test func `C gets no element behind the last one of a Swift array`() {
      let record = Record()
      record.numbers = [1, 2]
      var status = KVO_OK
      let read = kvo_get_value(
        record.keyValueObject, "numbers",
        { value, result in
          guard let list = kvo_value_collection(value) else { return }
          let refusal = list.pointee.element(list, list.pointee.count, { _, _ in }, nil)
          result!.storeBytes(of: refusal, as: kvo_status.self)
        }, &status)
      #expect(read == KVO_OK)
      #expect(status == KVO_ERROR_OUT_OF_RANGE)
    }
  }
#endif
