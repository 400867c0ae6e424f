// Objects whose keys are not properties: observable dictionaries, and classes that provide undefined keys.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  private final class Holder {
    var info: KeyValueDictionary?
    var plain: [String: Any] = [:]
  }

  @KeyValueObservable
  private final class Bag {
    var title = ""
    @NotObserved private var extras: [String: Any] = [:]

    func value(forUndefinedKey key: String) -> Any? { extras[key] }
    func setValue(_ value: Any?, forUndefinedKey key: String) {
      willChangeValue(forKey: key)
      extras[key] = value
      didChangeValue(forKey: key)
    }
  }

  @Suite("Observable dictionaries and undefined keys")
  struct DictionaryTests {
    private let watcher = Watcher()

    @Test func `An entry of a dictionary object is observed by its key, also while it is absent`() {
      let dictionary = KeyValueDictionary(["a": 1])
      dictionary.addObserver(watcher, forKeyPath: "a", options: [.old, .new])
      dictionary.addObserver(watcher, forKeyPath: "b", options: [.initial, .new])
      dictionary["a"] = 2
      dictionary.setValue("x", forKey: "b")
      dictionary.removeValue(forKey: "a")
      dictionary["c"] = 3
      dictionary.removeObserver(watcher, forKeyPath: "a")
      dictionary.removeObserver(watcher, forKeyPath: "b")
      dictionary["a"] = 4
      #expect(watcher.log.lines == ["b -><null>", "a 1>2", "b ->x", "a 2><null>"])
      #expect(dictionary.observationInfo == nil)
    }

    @Test func `A dictionary object may be anywhere in a string or typed key path`() {
      let holder = Holder()
      holder.addObserver(watcher, forKeyPath: "info.pages", options: [.old, .new])
      let log = Log()
      let token = holder.observe(\.info?["pages"], options: [.new]) { _, change in log.add("\(change.newValue as Any)")
      }
      let info = KeyValueDictionary(["pages": 1])
      holder.info = info
      info["pages"] = 2
      holder.info = nil
      info["pages"] = 3
      holder.removeObserver(watcher, forKeyPath: "info.pages")
      token.invalidate()
      #expect(watcher.log.lines == ["info.pages <null>>1", "info.pages 1>2", "info.pages 2><null>"])
      #expect(log.lines.count == 3 && info.observationInfo == nil)
    }

    @Test func `A Swift dictionary on a path is a value, and setting the property notifies`() {
      let holder = Holder()
      holder.addObserver(watcher, forKeyPath: "plain.pages", options: [.old, .new])
      holder.plain["pages"] = 1
      holder.plain = ["pages": 2]
      holder.removeObserver(watcher, forKeyPath: "plain.pages")
      #expect(watcher.log.lines == ["plain.pages <null>>1", "plain.pages 1>2"])
    }

    @Test func `A key that only value(forUndefinedKey:) provides is observed, and announced manually`() {
      let bag = Bag()
      bag.addObserver(watcher, forKeyPath: "extra", options: [.old, .new, .prior])
      bag.setValue(1, forKey: "extra")
      bag.setValue(nil, forKey: "extra")
      bag.removeObserver(watcher, forKeyPath: "extra")
      #expect(
        watcher.log.lines == [
          "extra prior <null>>-", "extra <null>>1", "extra prior 1>-", "extra 1><null>",
        ])
    }

    @Test func `A property is observed and removed separately by each of its keys`() {
      let document = Document()
      document.addObserver(watcher, forKeyPath: "favorite", options: [.old, .new])
      document.addObserver(watcher, forKeyPath: "isFavorite", options: [.new])
      document.isFavorite = true
      document.removeObserver(watcher, forKeyPath: "isFavorite")
      document.setValue(false, forKey: "favorite")
      document.removeObserver(watcher, forKeyPath: "favorite")
      #expect(watcher.log.lines == ["isFavorite ->true", "favorite false>true", "favorite true>false"])
      #expect(document.observationInfo == nil)
    }

    @Test func `The number of entries is observed with the operator @count`() {
      let dictionary = KeyValueDictionary(["a": 1, "b": 2])
      #expect(dictionary.value(forKeyPath: "@count") as? Int == 2)
      #expect(dictionary.value(forKey: "@count") as? Int == 2)
    }

    @Test func `The new value of a path is that of the object that is there, the old value the one told last`() {
      let document = Document()
      let (former, present) = (Person(name: "former"), Person(name: "present"))
      document.setValue(former, forKey: "silent")
      document.addObserver(watcher, forKeyPath: "silent.name", options: [.old, .new])
      document.silent = present
      former.name = "changed"
      document.removeObserver(watcher, forKeyPath: "silent.name")
      #expect(watcher.log.lines == ["silent.name former>present"])
    }
  }
#endif
