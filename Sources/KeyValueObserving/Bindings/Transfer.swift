// Which bindings set a property just now, and on which thread; and whether the other side has changed meanwhile.

import CKVO
public import CSwiftRuntime
public import Synchronization

/// How a binding goes on with a change of what it follows.
@usableFromInline
@frozen
struct TransferTurn {
  /// The number of the change, where several threads make them.
  @usableFromInline let number: UInt

  @inlinable
  init(_ number: UInt) { self.number = number }

  /// The binding makes the change itself, by what it sets on this thread. It is noted; the binding looks afterwards.
  @inlinable static var answer: TransferTurn { TransferTurn(0) }
  /// Only this thread has ever made changes.
  @inlinable static var alone: TransferTurn { TransferTurn(1) }
  /// This change is the first that another thread makes: whatever happens, the binding compares the values afterwards.
  @inlinable static var suspect: TransferTurn { TransferTurn(2) }
  @usableFromInline static var numbers: UInt { 2 }

  @inlinable var isAnswer: Bool { number == 0 }
  @inlinable var isAlone: Bool { number == 1 }
}

/// The changes of one side of a binding.
@usableFromInline
@frozen
struct SideChanges: ~Copyable {
  /// Whether the thread that is alone has changed this side in answer to the present transfer.
  @usableFromInline let isAnswered = Atomic<Bool>(false)
  /// How many changes there were since several threads make them.
  @usableFromInline let count = Atomic<UInt>(TransferTurn.numbers)

  @usableFromInline
  init() {}
}

/// A binding's marks of its transfers, by which it knows its own answers.
///
/// They have to be exact: if a binding took an answer of its own for a change, two threads that set both ends of a cycle could nest
/// without end. And the last thread to set the target has to notice what others have done meanwhile, or the sides would differ.
///
/// Most bindings are used by one thread: the first one owns these marks, and changes them by plain loads and stores. When a second thread
/// comes, it says so, and makes all threads execute a memory barrier. What the owner has set until then is visible afterwards; and a
/// transfer of the owner that ends afterwards finds it, and compares the values. From then on all threads count.
@usableFromInline
@frozen
struct TransferMarks: ~Copyable {
  /// The first thread. It may end, and another one get its number, which then owns the marks. 0 for a binding whose transfers are all made
  /// on an actor, one after the other.
  @usableFromInline let owner = Atomic<UInt>(0)
  /// How many threads there are: one; a second one has come, but not made its barrier; several.
  @usableFromInline let sharing = Atomic<UInt8>(0)
  /// Whether the owner is within a transfer. Only the owner writes it.
  @usableFromInline let isOwnerSetting = Atomic<Bool>(false)
  /// How many transfers of other threads are in progress. If none, there is no list to look through.
  private let othersSetting = Atomic<Int>(0)
  /// Counts changes since there are several threads: without the answers, and without those made by a thread that settles a binding.
  let changes = Atomic<UInt>(0)

  @usableFromInline
  init() {}

  /// Notes a change of a side.
  ///
  /// - Parameter binding: The object whose marks these are.
  @inlinable
  @inline(__always)
  borrowing func begin(_ side: borrowing SideChanges, _ binding: AnyObject) -> TransferTurn {
    guard owner.load(ordering: .relaxed) == kvo_this_thread(), sharing.load(ordering: .relaxed) == 0 else {
      return beginSlowly(side, binding)
    }
    let isAnswer = isOwnerSetting.load(ordering: .relaxed)
    side.isAnswered.store(isAnswer, ordering: .relaxed)
    return isAnswer ? .answer : .alone
  }

  /// Notes a change of a side of a binding whose transfers are all made on an actor.
  @usableFromInline
  borrowing func beginOnActor(_ side: borrowing SideChanges) -> TransferTurn {
    let isAnswer = isOwnerSetting.load(ordering: .relaxed)
    side.isAnswered.store(isAnswer, ordering: .relaxed)
    return isAnswer ? .answer : .alone
  }

  /// Whether this thread may change the owner's marks.
  private borrowing func isOwned() -> Bool {
    let owner = owner.load(ordering: .relaxed)
    return owner == 0 || owner == kvo_this_thread()
  }

  @usableFromInline
  @inline(never)
  borrowing func beginSlowly(_ side: borrowing SideChanges, _ binding: AnyObject) -> TransferTurn {
    if sharing.load(ordering: .sequentiallyConsistent) == 0,
      owner.compareExchange(expected: 0, desired: kvo_this_thread(), ordering: .sequentiallyConsistent).exchanged
    {
      return begin(side, binding)
    }
    let isFirst = sharing.load(ordering: .sequentiallyConsistent) != 2
    if isFirst {
      sharing.store(1, ordering: .sequentiallyConsistent)
      kvo_binding_barrier()
      sharing.store(2, ordering: .sequentiallyConsistent)
    }
    let number = side.count.add(1, ordering: .sequentiallyConsistent).newValue
    if isSetting(binding) { return .answer }
    if !kvo_is_settling() { changes.add(1, ordering: .relaxed) }
    return isFirst ? .suspect : TransferTurn(number)
  }

  /// Whether this thread is within a transfer of the binding.
  private borrowing func isSetting(_ binding: AnyObject) -> Bool {
    if isOwned() { return isOwnerSetting.load(ordering: .relaxed) }
    guard othersSetting.load(ordering: .relaxed) != 0 else { return false }
    let mine = UnsafeRawPointer(Unmanaged.passUnretained(binding).toOpaque())
    var transfer = kvo_innermost_transfer()
    while let at = transfer {
      if at.pointee.of == mine { return true }
      transfer = at.pointee.outer
    }
    return false
  }

  /// Runs the code that sets a property.
  @inlinable
  @inline(__always)
  borrowing func run(_ turn: TransferTurn, _ binding: AnyObject, _ body: () -> Void) {
    guard turn.isAlone else { return run(binding, body) }
    isOwnerSetting.store(true, ordering: .relaxed)
    kvo_transfer_begin()
    body()
    kvo_transfer_end()
    isOwnerSetting.store(false, ordering: .relaxed)
  }

  @usableFromInline
  @inline(never)
  borrowing func run(_ binding: AnyObject, _ body: () -> Void) {
    kvo_transfer_begin()
    defer { kvo_transfer_end() }
    if isOwned() {
      isOwnerSetting.store(true, ordering: .relaxed)
      body()
      return isOwnerSetting.store(false, ordering: .sequentiallyConsistent)
    }
    othersSetting.add(1, ordering: .relaxed)
    let outer = kvo_innermost_transfer()
    var transfer = kvo_transfer(of: Unmanaged.passUnretained(binding).toOpaque(), outer: outer)
    withUnsafeMutablePointer(to: &transfer) { transfer in
      kvo_set_innermost_transfer(transfer)
      body()
      kvo_set_innermost_transfer(outer)
    }
    othersSetting.subtract(1, ordering: .sequentiallyConsistent)
  }

  /// Whether another thread is within a transfer, and settles the binding after it, because the sides have changed: this thread need not.
  /// Called outside of this thread's transfers.
  borrowing func isTakenOver(_ one: borrowing SideChanges, _ other: borrowing SideChanges) -> Bool {
    guard sharing.load(ordering: .sequentiallyConsistent) == 2 else { return false }
    one.count.add(1, ordering: .sequentiallyConsistent)
    other.count.add(1, ordering: .sequentiallyConsistent)
    // The thread looks at the count after the transfer, whose end is not seen here.
    return othersSetting.load(ordering: .sequentiallyConsistent) != 0
      || !isOwned() && isOwnerSetting.load(ordering: .sequentiallyConsistent)
  }

  /// Whether the side has not changed since that turn began. Called after its transfer.
  @inlinable
  @inline(__always)
  borrowing func isUnchanged(_ side: borrowing SideChanges, since turn: TransferTurn) -> Bool {
    guard turn.isAlone else { return side.count.load(ordering: .sequentiallyConsistent) == turn.number }
    return !side.isAnswered.load(ordering: .relaxed) && sharing.load(ordering: .relaxed) == 0
  }

  /// Forgets that the side was changed in answer, before the next round.
  borrowing func forgetAnswer(_ side: borrowing SideChanges) {
    if isOwned(), sharing.load(ordering: .relaxed) == 0 { side.isAnswered.store(false, ordering: .relaxed) }
  }
}

/// Whether a property has the very value that a binding is about to set, within the transfer of another binding: the value has come back in
/// a cycle, or by another way. To set it again would notify once for each way through the bindings, and their number is exponential.
@inlinable
@inline(__always)
func isPresent<Root, Value>(_ value: Value, in property: BoundProperty<Root, Value>, of target: Root) -> Bool {
  kvo_is_transferring() && haveSameBytes(property.get(target), value)
}

/// Whether two values are the same, for all that can be told of them: equal objects, for instance, may differ later. A function of its own,
/// so that a transfer that is not within another one needs no memory for it.
@inlinable
@inline(never)
func haveSameBytes<Value>(_ one: Value, _ other: Value) -> Bool {
  withUnsafePointer(to: one) { one in
    withUnsafePointer(to: other) { other in kvo_has_same_bytes(one, other, MemoryLayout<Value>.size) }
  }
}
