// Which property a typed key path ends at: it cannot be asked, but evaluated while the runtime records what it reads.

import CKVO

/// An observation for one evaluation.
final class PathProbe<Root: KeyValueObservable>: ObservationBox {
  enum Found {
    case end(PathEnd)
    /// An object on the way is `nil`.
    case nothingOnTheWay
    case noPath
  }

  private let root: Root
  private let keyPath: PartialKeyPath<Root>
  private var found = Found.noPath

  init(_ root: Root, _ keyPath: PartialKeyPath<Root>) {
    self.root = root
    self.keyPath = keyPath
    super.init { _, _ in }
  }

  func find(_ site: ObservationSite) -> Found {
    let options = kvo_options([], endsWithObject: true)
    kvo_cancel_observer(
      register(with: root.adoptedObject, key: nil, keyPath: "\(keyPath)", options: options, site: site))
    return found
  }

  override func evaluate() -> UnsafeMutableRawPointer? {
    // So that it has read something in any case: one that has not is a fault of those who observe it.
    root.__recordAccess(keyOfLifetime)
    _ = root[keyPath: keyPath]
    withUnsafeTemporaryAllocation(of: kvo_read.self, capacity: 8) { buffer in
      let count = kvo_track_reads(buffer.baseAddress!, buffer.count)
      guard count > 1, count <= buffer.count else { return }
      found = end(of: UnsafeBufferPointer(rebasing: buffer[1..<count]))
    }
    return nil
  }

  private func end(of reads: UnsafeBufferPointer<kvo_read>) -> Found {
    let properties = reads.compactMap(\.keyValueProperty)
    guard properties.count == reads.count, isChain(reads, properties, from: root),
      let object = swiftObject(at: reads[reads.count - 1].object), let last = properties.last
    else { return .noPath }
    if isPath(keyPath, of: Root.self, through: properties, keepingLast: false) {
      return .end(PathEnd(object: object, key: last.name))
    }
    let paused = kvo_track_pause()
    defer { kvo_track_resume(paused) }
    return unwrapped(last.read(object)) == nil ? .nothingOnTheWay : .noPath
  }
}
