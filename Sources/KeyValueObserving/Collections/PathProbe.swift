// The reads of a typed key path, found by evaluating it while the runtime records.

import CKVO

/// An observation that is evaluated once.
final class PathProbe<Root: KeyValueObservable>: ObservationBox {
  private let root: Root
  private let keyPath: PartialKeyPath<Root>
  private let examine: (UnsafeBufferPointer<kvo_read>) -> Void

  /// - Parameter examine: Called during the evaluation with the reads of the key path, unless there are more than the runtime
  ///   records.
  init(_ root: Root, _ keyPath: PartialKeyPath<Root>, examine: @escaping (UnsafeBufferPointer<kvo_read>) -> Void) {
    self.root = root
    self.keyPath = keyPath
    self.examine = examine
    super.init { _, _ in }
  }

  func run(_ site: SourceLocation) {
    let options = kvo_options([], endsWithObject: true)
    kvo_cancel_observer(
      register(with: root.adoptedObject, key: nil, keyPath: "\(keyPath)", options: options, site: site))
  }

  override func evaluate() -> UnsafeMutableRawPointer? {
    // Ensures that something was read: observing an expression without reads is a fault.
    root.recordAccess(keyOfLifetime)
    _ = root[keyPath: keyPath]
    withUnsafeTemporaryAllocation(of: kvo_read.self, capacity: mostReads) { buffer in
      let count = kvo_track_reads(buffer.baseAddress!, buffer.count)
      guard count > 0, count <= buffer.count else { return }
      examine(UnsafeBufferPointer(rebasing: buffer[1..<count]))
    }
    return nil
  }
}
