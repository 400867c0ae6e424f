// How bindings end: in both directions, and those of Cocoa's by either side.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("The end of a binding")
  struct BindingEndTests {
    @Test("in both directions ends both")
    func bothDirections() {
      let (one, other) = (Document(), Document())
      let token = one.bindTwoWay(\.title, with: other, \.title)
      token.invalidate()
      one.title = "A"
      #expect(other.title == "")
      other.title = "B"
      #expect(one.title == "A")
    }

    @Test("in both directions ends both, whichever side stops observing, and is told once")
    func bothDirectionsByOneSide() {
      for isLeft in [true, false] {
        let (one, other, reasons) = (Document(), Document(), Log<NSKeyValueObservation.EndReason>())
        let token = one.bindTwoWay(\.title, with: other, \.title).onEnd(reasons.add)
        if isLeft { one.stopObserving(for: other) } else { other.stopObserving(for: one) }
        #expect(!token.isActive && reasons.all == [.invalidated])
        one.title = "A"
        #expect(other.title == "")
        other.title = "B"
        #expect(one.title == "A")
        #expect(reasons.all.count == 1)
      }
    }

    @Test("in both directions tells which object has died")
    func bothDirectionsByDeath() {
      for isLeft in [true, false] {
        var (one, other): (Document?, Document?) = (Document(), Document())
        let reasons = Log<NSKeyValueObservation.EndReason>()
        one!.bindTwoWay(\.title, with: other!, \.title).onEnd(reasons.add)
        if isLeft { one = nil } else { other = nil }
        #expect(reasons.all == [isLeft ? .receiverDied : .objectDied])
        _ = (one, other)
      }
    }

    @Test("comes with an exclusive one in both directions, which replaces it")
    func replaced() {
      let (one, other, third) = (Document(), Document(), Document())
      let token = one.bindTwoWay(\.title, with: other, \.title)
      #expect(faults { one.bindTwoWay(\.title, with: third, \.title, exclusive: true) } == [19])
      #expect(!token.isActive)
      third.title = "A"
      #expect([one.title, other.title] == ["A", ""])
    }

    @Test("of Cocoa's that sets its property only comes with unbind and unbindAll, until which it is described")
    func cocoaOneWay() {
      for endsAll in [true, false] {
        let (lamp, room) = (Lamp(), Room())
        let options: [NSBindingOption: Any] = [.valueTransformerName: NSValueTransformerName.isNotNilTransformerName]
        lamp.bind(.enabled, to: room, withKeyPath: "name", options: options)
        #expect(lamp.infoForBinding(.enabled)?[.observedKeyPath] as? String == "name")
        room.name = "A"
        #expect(lamp.enabled)
        if endsAll { lamp.unbindAll() } else { lamp.unbind(.enabled) }
        #expect(lamp.infoForBinding(.enabled) == nil)
        room.name = nil
        #expect(lamp.enabled)
      }
    }

    @Test("of Cocoa's comes with unbind of the observed property, too")
    func cocoaFromObserved() {
      let (lamp, room) = (Lamp(), Room())
      lamp.bind(.title, to: room, withKeyPath: "name")
      room.name = "A"
      #expect(lamp.title == "A")
      room.unbind(\.name)
      #expect(lamp.infoForBinding(.title) == nil)
      lamp.title = "B"
      #expect(room.name == "A")
      room.name = "C"
      #expect(lamp.title == "B")
    }

    @Test("of Cocoa's comes with the death of the object whose property it sets")
    func cocoaByDeath() {
      let room = Room()
      for options: [NSBindingOption: Any] in [
        [:], [.valueTransformerName: NSValueTransformerName.isNilTransformerName],
      ] {
        var lamp: Lamp? = Lamp()
        lamp!.bind(options.isEmpty ? .title : .enabled, to: room, withKeyPath: "name", options: options)
        #expect(room.observationInfo != nil)
        lamp = nil
        #expect(room.observationInfo == nil)
      }
    }

    @Test("of Cocoa's comes with its replacement, of a computed value by another one")
    func cocoaReplaced() {
      let (lamp, one, other) = (Lamp(), Room(), Room())
      lamp.bind(.minValue, to: one, withKeyPath: "doors.@count")
      lamp.bind(.minValue, to: other, withKeyPath: "doors.@count")
      one.doors = [1, 2]
      #expect(lamp.minValue == 0)
      other.doors = [1]
      #expect(lamp.minValue == 1)
    }
  }

  @KeyValueObservable
  private final class Lamp: KeyValueObject {
    var title: String?
    var enabled = false
    var minValue = 0
  }

  @KeyValueObservable
  private final class Room {
    var name: String?
    var doors: [Int] = []
  }
#endif
