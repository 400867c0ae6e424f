// Rows: manually announced changes, and the classic observer with its dictionary.

import Foundation
import KeyValueObserving

extension Row {
  static var announced: [Row] {
    [
      Row(
        "manual pair by key", announcingByKey, .gnustep("manual", "KVO, will and did", bar: 0.05)),
      Row(
        "manual pair by key path", announcingByPath, .gnustep("manual", "KVO, will and did", bar: 0.05)),
      Row("to-many insert with indexes", inserting, .gnustep("insert", "KVO, will and did with indexes")),
      Row(
        "to-many insert through the proxy", insertingThroughProxy,
        .gnustep("proxy", "KVO, insert through the proxy", bar: 0.12),
        .gnustep("insert", "KVO, will and did with indexes", bar: 0.3)),
      Row(
        "classic observer by string key, dictionary with old and new", classic,
        .gnustep("set-old-new", "KVO, options old and new", bar: 0.08)),
    ]
  }
}

extension Observable {
  @inline(never)
  fileprivate func announce(byKey value: Int) {
    willChangeValue(forKey: "scratch")
    scratch = value
    didChangeValue(forKey: "scratch")
  }

  @inline(never)
  fileprivate func announce(byPath value: Int) {
    willChangeValue(for: \.scratch)
    scratch = value
    didChangeValue(for: \.scratch)
  }

  @inline(never)
  fileprivate func insert(_ value: Int, at index: Int) {
    let indexes = IndexSet(integer: index)
    willChange(.insertion, valuesAt: indexes, forKey: "drafts")
    drafts.insert(value, at: index)
    didChange(.insertion, valuesAt: indexes, forKey: "drafts")
  }

  @inline(never)
  fileprivate func insertThroughProxy(_ value: Int, at index: Int) {
    mutableArrayValue(for: \.items).insert(value, at: index)
  }
}

private func observedScratch() -> (Observable, NSKeyValueObservation) {
  let (object, tally) = (Observable(), Tally())
  return (object, object.observe(\.scratch, options: [.new]) { _, change in tally.add(change.newValue!) })
}

private func announcingByKey() -> Workload {
  let (object, token) = observedScratch()
  return Workload { count in
    for index in 0..<count { object.announce(byKey: index) }
    withExtendedLifetime(token) {}
  }
}

private func announcingByPath() -> Workload {
  let (object, token) = observedScratch()
  return Workload { count in
    for index in 0..<count { object.announce(byPath: index) }
    withExtendedLifetime(token) {}
  }
}

/// Removes each element again without an announcement, so that the array stays as small as the peer's.
private func inserting() -> Workload {
  let (object, tally) = (Observable(), Tally())
  let token = object.observe(\.drafts, options: [.new]) { _, change in tally.add(change.indexes!.count) }
  return Workload { count in
    for index in 0..<count {
      object.insert(index, at: 0)
      object.drafts.removeLast()
    }
    withExtendedLifetime(token) {}
  }
}

/// Empties the array after each 256 operations, so that it stays as small as the peer's, which is emptied without an announcement.
private func insertingThroughProxy() -> Workload {
  let (object, tally) = (Observable(), Tally())
  let token = object.observe(\.items, options: [.new]) { _, change in tally.add(change.indexes!.count) }
  return Workload { count in
    for index in 0..<count {
      object.insertThroughProxy(index, at: 0)
      if index & 255 == 255 { object.mutableArrayValue(for: \.items).removeAll() }
    }
    withExtendedLifetime(token) {}
  }
}

private final class Panel: KeyValueObject {
  nonisolated(unsafe) static let context = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
  let tally = Tally()

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?, context: UnsafeMutableRawPointer?
  ) {
    guard context == Panel.context, let change else {
      return super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
    }
    tally.add((change[.oldKey] as! Int) &+ (change[.newKey] as! Int))
  }
}

/// A classic observation that is removed on deallocation, because it must not outlive its observer.
private final class ClassicObservation {
  let (object, panel) = (Observable(), Panel())
  init() { object.addObserver(panel, forKeyPath: "number", options: [.old, .new], context: Panel.context) }
  deinit { object.removeObserver(panel, forKeyPath: "number", context: Panel.context) }
}

private func classic() -> Workload {
  let observation = ClassicObservation()
  return .setting(observation.object, keeping: observation)
}
