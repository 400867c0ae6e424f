// Lists and sets of C objects through proxies of Swift, where their accessors fail or hold another type.
#if Macros
  import CKVO
  import CSupport
  import Foundation
  import KeyValueObserving
  import Testing

  private func makeShape() -> KeyValueRuntimeObject {
    KeyValueRuntimeObject(
      borrowing: UnsafeMutableRawPointer(csupport_shape_create()).assumingMemoryBound(to: kvo_object.self))
  }

  @Suite("Failing collections of C objects")
  struct RuntimeCollectionTests {
    /// Returns the codes of the faults that a body raises; they are ignored.
    private func codes(_ body: () -> Void) -> [String] {
      let lines = Lines()
      KeyValueFault.withHandler { fault in
        lines.add("\(fault.code)")
        return .ignore
      } in: {
        body()
      }
      return lines.all
    }

    @Test func `A set of a C object that refuses a member is a fault, and the mutation ends`() {
      let tags = makeShape().mutableSetValue(forKey: "tags", of: String.self)
      tags.formUnion((1...16).map { "tag \($0)" })  // as many as there is room for
      #expect(tags.count == 16)
      var isInserted = true
      #expect(codes { isInserted = tags.insert("more").inserted } == ["26"])
      #expect(!isInserted)
      #expect(codes { tags.formUnion(["more", "and more"]) } == ["26"])
      #expect(tags.count == 16 && !tags.contains("more"))
    }

    @Test func `A list of a C object that holds another type is the fault of the access, and ends the process`() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        KeyValueFault.setHandler { fault in
          FileHandle.standardError.write(Data("fault \(fault.code)\n".utf8))
          return .ignore
        }
        let shape = makeShape()
        shape.mutableArrayValue(forKey: "corners", of: Double.self).append(1)
        _ = shape.mutableArrayValue(forKey: "corners", of: String.self)[0]
      }
      #expect(result.map { String(decoding: $0.standardErrorContent, as: UTF8.self).contains("fault 26\n") } == true)
    }
  }
#endif
