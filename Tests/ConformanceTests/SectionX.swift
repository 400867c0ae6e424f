// Sections X and T of Documentation/AppleCompatibility.md: reading, setting and observing dictionaries.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("X. Key-value coding: dictionaries")
  struct SectionX {
    let c = Coded()
    let w = Watcher()

    @Test func `364: A key is that of an entry; @count is the number of entries`() {
      let dictionary: [String: Any] = ["a": 1, "b": 2]
      #expect(dictionary.value(forKey: "a") as? Int == 1)
      #expect(dictionary.value(forKey: "@count") as? Int == 2)
      let object = KeyValueDictionary(dictionary)
      #expect(object.value(forKey: "a") as? Int == 1)
    }

    @Test func `365, 366: A set sets an entry, and nil removes it, in a mutable dictionary`() {
      var dictionary: [String: Any] = ["a": 1]
      dictionary.setValue(2, forKey: "a")
      dictionary.setValue(3, forKey: "b")
      #expect(dictionary as? [String: Int] == ["a": 2, "b": 3])
      dictionary.setValue(nil, forKey: "a")
      #expect(dictionary as? [String: Int] == ["b": 3])
      let object = KeyValueDictionary(["a": 1])
      object.setValue(nil, forKey: "a")
      #expect(object.count == 0)
    }

    @Test func `367: An entry whose key has dots has precedence over a path`() {
      let dictionary: [String: Any] = ["a.b": 1, "a": ["b": 2, "c": 3]]
      #expect(dictionary.value(forKeyPath: "a.b") as? Int == 1)
      #expect(dictionary.value(forKeyPath: "a.c") as? Int == 3)
    }

    @Test func `368: The empty string is a valid key of a dictionary`() {
      #expect(["": 5].value(forKey: "") as? Int == 5)
    }

    @Test func `369: A path cannot continue after @count of a dictionary`() {
      #expect(codes { nilIs(["a": 1].value(forKeyPath: "@count.x")) }.count == 1)
    }

    @Test func `153: A plain dictionary that is a property is observed by key too, and set through a path`() {
      c.info = ["a": 1]
      c.add(w, "info.a")
      c.info["a"] = 2
      c.setValue(3, forKeyPath: "info.a")
      c.info = [:]
      #expect(w.lines == ["w 1>2", "w 2>3", "w 3>null"])
      c.remove(w, "info.a")
    }

    @Test func `153, 319: An observable dictionary notifies for its entries, alone and on a path`() {
      let info = KeyValueDictionary(["a": 1])
      c.any = info
      info.add(w, "a")
      info["a"] = 2
      info.removeValue(forKey: "a")
      info.setValue(3, forKey: "a")
      #expect(w.take() == ["w 1>2", "w 2>null", "w null>3"])
      info.remove(w, "a")
      c.add(w, "any.a")
      info["a"] = 4
      c.any = KeyValueDictionary(["a": 5])
      #expect(w.take() == ["w 3>4", "w 4>5"])
      c.remove(w, "any.a")
    }

    @Test func `154: Nested dictionaries do so too`() {
      let inner = KeyValueDictionary(["k": 1])
      c.any = KeyValueDictionary(["inner": inner])
      c.add(w, "any.inner.k")
      inner["k"] = 2
      (c.any as? KeyValueDictionary)?["inner"] = KeyValueDictionary(["k": 3])
      #expect(w.lines == ["w 1>2", "w 2>3"])
      c.remove(w, "any.inner.k")
    }
  }
#endif
