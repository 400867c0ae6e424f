// The token of an observation.

import CKVO
public import Foundation
import Synchronization

/// An observation made with a closure.
///
/// ```swift
/// let token = document.observe(\.title, options: [.new]) { document, change in print(change.newValue!) }
/// document.title = "Emma"  // prints: Emma
/// token.invalidate()
/// ```
/// The observation lasts until the token is invalidated or released, or the observed object is deallocated, whichever comes first;
/// none of these is an error. The token retains the closure, but not the observed object. Its methods may be called on any thread.
///
/// The token of an observation made for a receiver, with `observe(_:options:for:handler:)` or `onChange(of:initial:for:handler:)`,
/// need not be kept: its release ends nothing. Its observation ends when the receiver is deallocated.
public class NSKeyValueObservation: NSObject, @unchecked Sendable {
  /// The runtime's ID, in which bits 25 to 31 are 0, and two flags in these.
  private let state: Atomic<UInt64>
  private static let isKept: UInt64 = 0x8000_0000
  private static let isInvalidated: UInt64 = 0x4000_0000

  var observation: kvo_observation { state.load(ordering: .relaxed) & ~(Self.isKept | Self.isInvalidated) }

  /// - Parameter endsOnRelease: Whether the release of the token ends the observation.
  @usableFromInline
  init(_ observation: UInt64, endsOnRelease: Bool = true) {
    state = Atomic(observation | (endsOnRelease ? 0 : Self.isKept))
  }

  deinit {
    if state.load(ordering: .relaxed) & (Self.isKept | Self.isInvalidated) == 0 { kvo_cancel_observer(observation) }
  }

  /// Ends the observation.
  ///
  /// ```swift
  /// let token = document.observe(\.title) { _, _ in print("changed") }
  /// token.invalidate()
  /// document.title = "Hello"  // prints nothing
  /// ```
  ///
  /// After it returns, no new call of the closure begins on any thread; a call that has begun on another thread may still finish.
  /// The closure is released before the method returns or, if a delivery of the object is in progress, when that delivery ends.
  /// Calling the method again, also from within the closure, does nothing. It is safe on any thread.
  public func invalidate() {
    noteInvalidated()
    kvo_cancel_observer(observation)
  }

  /// Ends the observation and waits until no other thread runs its closure.
  ///
  /// After it returns, the closure does not run and will not run again, so that the resources it uses can be released. It also
  /// waits if the observation had already ended. It waits for this closure only, not for other observers of the object. Do not hold
  /// a lock that the closure takes. It does not wait for a delivery on a queue or an actor that has begun there.
  ///
  /// A call from within the closure itself, or from within a closure that this closure is in turn waiting for, would deadlock. It
  /// is fault KVO0017, and the method does not wait for those calls. This method is an addition; Apple's platforms have no
  /// equivalent.
  public func invalidateAndWait(fileID: StaticString = #fileID, line: UInt = #line) {
    noteInvalidated()
    let site = SourceLocation(file: fileID, line: line)
    kvo_cancel_observer_and_wait_at(observation, site.cFile, site.cLine)
  }

  /// A Boolean value that says whether the observation is still registered: it has not been ended, and the object, and the receiver if
  /// there is one, live.
  public var isActive: Bool { kvo_observation_is_registered(observation) }

  /// A Boolean value that says whether the observation is paused.
  public var isPaused: Bool { kvo_observation_is_paused(observation) }

  /// Pauses the observation: changes are only noted, until it is resumed.
  ///
  /// ```swift
  /// token.pause()
  /// document.title = "Draft"
  /// token.resume(deliveringMissed: true)  // tells once what was missed
  /// ```
  ///
  /// After it returns, no new call of the closure begins on any thread, also not before a change; a call that has begun on another thread
  /// may still finish. What waits for its delivery on a queue or an actor goes on waiting. The observation can be ended as usual. With
  /// the option `.old`, and for `onChange`, the present value is read on this thread. Pausing again does nothing. Any thread, also in the
  /// closure. An addition of this library.
  public func pause() { _ = kvo_observation_pause(observation) }

  /// Resumes the observation after ``pause()``.
  ///
  /// The old value of the next change is the value now. That of a collection, with `onChange` or `.collectionChanges`, is read on this
  /// thread; off the actor on which it is evaluated it is unknown, and the next change has no old value. Resuming an observation that is
  /// not paused, or has ended, does nothing. Any thread.
  ///
  /// - Parameter deliveringMissed: Whether changes that were made during the pause are delivered, as one: a setting, with the value at the
  ///   pause as the old value, for `onChange` the one that it passed last, and the present one as the new value. Without an actor or a
  ///   queue the closure is called before the method returns, on this thread. If there were none, it is not called.
  public func resume(deliveringMissed: Bool = false) {
    _ = kvo_observation_resume(observation, deliveringMissed)
  }

  /// Why an observation has ended.
  public enum EndReason: Sendable {
    /// The token was invalidated or released, or the observation was ended in another way.
    case invalidated
    /// The observed object was deallocated.
    case objectDied
    /// The receiver was deallocated.
    case receiverDied
  }

  /// Calls a closure once when the observation has ended.
  ///
  /// ```swift
  /// token.onEnd { reason in print("ended:", reason) }
  /// ```
  ///
  /// The closure is called when no call of the observation's closure is in progress any more, on the thread that ends it or that
  /// finishes the last delivery, with no lock held; at once if the observation has ended already. Several closures are called in the
  /// order in which they were given. Any thread. An addition of this library.
  ///
  /// - Returns: The token.
  @discardableResult
  public func onEnd(_ handler: @escaping @Sendable (EndReason) -> Void) -> Self {
    let watch = EndWatch(handler)
    let context = Unmanaged.passRetained(watch)
    let status = kvo_observation_on_end(
      observation, { end, context in Unmanaged<EndWatch>.fromOpaque(context!).takeRetainedValue().ended(end) },
      context.toOpaque())
    guard status != KVO_OK else { return self }
    context.release()
    watch.ended(isInvalidated || observation == 0 ? KVO_END_REMOVED : KVO_END_OBJECT_DIED)
    return self
  }

  /// Called before the observation is cancelled. What has ended already, with its object, was not invalidated. Not a read-modify-write: the
  /// other bits never change.
  private func noteInvalidated() {
    if isActive { state.store(state.load(ordering: .relaxed) | Self.isInvalidated, ordering: .relaxed) }
  }

  private var isInvalidated: Bool { state.load(ordering: .relaxed) & Self.isInvalidated != 0 }
}

/// A closure of `onEnd`, in a class for the runtime.
private final class EndWatch {
  private let handler: @Sendable (NSKeyValueObservation.EndReason) -> Void

  init(_ handler: @escaping @Sendable (NSKeyValueObservation.EndReason) -> Void) { self.handler = handler }

  func ended(_ end: kvo_end) { handler(end == KVO_END_OBJECT_DIED ? .objectDied : .invalidated) }
}

extension NSKeyValueObservation {
  /// Adds the token to a set, which then keeps the observation.
  public final func store(in tokens: inout Set<NSKeyValueObservation>) { tokens.insert(self) }

  /// Adds the token to a collection such as an array, which then keeps the observation.
  public final func store(in tokens: inout some RangeReplaceableCollection<NSKeyValueObservation>) {
    tokens.append(self)
  }
}
