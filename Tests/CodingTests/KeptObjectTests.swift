// What key-value coding keeps: none of the objects that it has read.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("What key-value coding keeps")
  struct KeptObjectTests {
    @Test func `A read through an array keeps none of its elements, whatever the array's type`() {
      weak var first: Person?
      weak var second: Person?
      let read: [Any?]
      do {
        let (ann, bob) = (Person("Ann"), Person("Bob"))
        (first, second) = (ann, bob)
        let people: [Person] = [ann]
        let anything: [Any] = [bob]
        read = [people.value(forKey: "name"), anything.value(forKeyPath: "@unionOfObjects.name")]
      }
      #expect(read[0] as? [String] == ["Ann"] && read[1] as? [String] == ["Bob"])
      #expect(first == nil && second == nil)
    }
  }
#endif
