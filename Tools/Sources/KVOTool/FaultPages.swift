// The pages of Documentation/Faults, embedded in the program.
import CViewPage

package enum FaultPages {
  /// The pages with their numbers, in the order of the codes.
  package static let all: [(number: Int, text: String)] = {
    let pages = kvo_view_faults()
    let texts = UnsafeRawBufferPointer(start: pages.bytes, count: pages.length).split(separator: 0)
    return texts.enumerated().map { ($0 + 1, String(decoding: $1, as: UTF8.self)) }
  }()
}
