// The library without the macro: the same observations with handwritten accessors. Built with the trait on and off.
import Foundation
import KeyValueObserving
import Testing

private let titleKey: UInt64 = 0xda31_296c_0c1b_6029  // FNV-1a of "title"

private final class Note: KeyValueObservable {
  let _$kvo = KeyValueObservationHeader()
  @exclusivity(unchecked) private var _title = ""

  var title: String {
    get {
      guard _$kvo.isTracking else { return _title }
      return _$kvo.tracked(self, titleKey, { self._title })
    }
    set {
      guard _$kvo.isObserved else {
        _title = newValue
        _$kvo.stored(titleKey, { self._title })
        return
      }
      _$kvo.change(titleKey, { self._title }, { self._title = newValue })
    }
    _modify {
      guard _$kvo.isObserved else {
        yield &_title
        return
      }
      let change = _$kvo.beginChange(titleKey, { self._title })
      defer { change.finish({ self._title }) }
      yield &_title
    }
  }

  var shout: String { title.uppercased() }

  var __keyValueObject: KeyValueObjectReference { _$kvo.reference }
  static func __describeKeyValueProperties(_ description: KeyValueClassDescription) {
    description.observed("title", titleKey, \Note.title)
    description.property("shout", \Note.shout)
  }
}

/// Used on the test's own thread only.
private final class Lines: @unchecked Sendable {
  var all: [String] = []
}

private final class Watcher: KeyValueObserver {
  let lines = Lines()
  func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?, context: UnsafeMutableRawPointer?
  ) {
    lines.all.append("\(keyPath!) \(change![.newKey]!)")
  }
}

@Suite("The library without the macro")
struct HandwrittenTests {
  @Test func `A property with accessors written by hand is observed`() {
    let note = Note()
    let lines = Lines()
    let token = note.observe(\.title, options: [.old, .new]) { lines.all.append("\($1.oldValue!)>\($1.newValue!)") }
    note.title = "a"
    note.title += "b"
    token.invalidate()
    note.title = "c"
    #expect(lines.all == [">a", "a>ab"])
  }

  @Test func `Computed properties and string keys work too`() {
    let note = Note()
    let watcher = Watcher()
    let lines = watcher.lines
    let token = note.observe(\.shout, options: [.new]) { lines.all.append($1.newValue!) }
    note.addObserver(watcher, forKeyPath: "title", options: [.new])
    note.title = "a"
    note.removeObserver(watcher, forKeyPath: "title")
    token.invalidate()
    #expect(watcher.lines.all == ["title a", "A"])
  }

  @Test func `The header adds eight bytes to an object`() {
    final class Plain {
      var title = ""
    }
    func size(_ type: AnyClass) -> Int { class_getInstanceSize(type) }
    #expect(size(Note.self) - size(Plain.self) == 8)
  }
}

/// Returns the instance size in the class's metadata, which follows kind, superclass, data, flags and address point.
private func class_getInstanceSize(_ type: AnyClass) -> Int {
  let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
  let words = MemoryLayout<UInt>.size
  return Int(metadata.load(fromByteOffset: 2 * words + 2 * MemoryLayout<UInt32>.size, as: UInt32.self))
}
