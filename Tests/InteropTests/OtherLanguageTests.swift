// Properties whose pointer is another language's, and objects of such a language, in Swift.
#if Macros
  import CKVO
  import CSupport
  import KeyValueObserving
  import Testing

  @Suite("Objects of other languages in Swift")
  struct OtherLanguageTests {
    private let lines = Lines()

    @Test func `A property whose accessors take a pointer of C is observed by key and by key path`() {
      let (shape, pointer) = makeShape()
      defer { kvo_object_destroy(shape.pointer) }
      let tokens = observeInAllWays(shape, "width", \.width, as: Double.self)
      shape.width = 2.0
      #expect(pointer.pointee.rect.width == 2)
      #expect(lines.all.sorted() == ["expression 2.0", "key 2.0", "key path 2.0"])
      withExtendedLifetime(tokens) {}
    }

    @Test func `An object of a third language is observed, read and set, also through another object`() throws {
      let meter = csupport_meter_create()
      defer { csupport_meter_destroy(meter) }
      let object = KeyValueRuntimeObject(borrowing: meter)
      let tokens = observeInAllWays(object, "level", \.level, as: Int32.self)
      csupport_meter_set(meter, 2)
      #expect(lines.all.sorted() == ["expression 2", "key 2", "key path 2"])
      object.level = Int32(3)
      object.setValue(4, forKeyPath: "level")
      #expect(object.level == Int32(4))
      let (shape, _) = makeShape()
      defer { kvo_object_destroy(shape.pointer) }
      shape.next = object
      let next: KeyValueRuntimeObject = shape.next
      #expect(next.pointer == meter)
      #expect(shape.value(forKeyPath: "next.level") as? Int32 == 4)
      withExtendedLifetime(tokens) {}
    }

    @Test func `What keeps an object of C lives as long as its Swift object`() {
      final class Owner {}
      weak var owner: Owner?
      let (shape, pointer) = makeShape()
      defer { kvo_object_destroy(shape.pointer) }
      do {
        let made = Owner()
        owner = made
        let kept = KeyValueRuntimeObject(borrowing: shape.pointer, keeping: made)
        kept.count = Int32(1)
        #expect(owner != nil)
      }
      #expect(owner == nil && pointer.pointee.count == 1)
    }

    @Test func `An object's address and key lead to kvo.h and back`() {
      let (shape, _) = makeShape()
      defer { kvo_object_destroy(shape.pointer) }
      #expect((keyValueObservable(at: shape.pointer) as? KeyValueRuntimeObject)?.pointer == shape.pointer)
      let track = Reel()
      #expect(keyValueObservable(at: track.keyValueObject) === track)
      #expect(keyValueKey(of: \.title, in: track) == "title")
      #expect(keyValueKey(of: \.title.count, in: track) == nil)
    }

    @Test func `A source is bound to a property of an object of C`() {
      let (shape, pointer) = makeShape()
      defer { kvo_object_destroy(shape.pointer) }
      let track = Reel()
      track.source(\.title).bind(to: shape, \.name)
      track.source(\.plays).map(Int32.init).bind(to: shape, \.count)
      track.title = "box"
      track.plays = 2
      #expect(shape.name == "box" && pointer.pointee.count == 2)
    }

    private func observeInAllWays<Value>(
      _ object: KeyValueRuntimeObject, _ key: String, _ keyPath: KeyPath<KeyValueRuntimeObject, Value>,
      as type: Value.Type
    ) -> [NSKeyValueObservation] {
      let lines = lines
      return [
        object.observe(keyPath, options: .new) { lines.add("key path \($1.newValue!)") },
        object.source(key).observe(options: .new) { lines.add("key \($0.newValue!)") },
        KeyValueSource { object[keyPath: keyPath] }.observe(options: .new) { lines.add("expression \($0.newValue!)") },
      ]
    }
  }

  @KeyValueObservable
  private final class Reel {
    var title = ""
    var plays = 0
  }
#endif
