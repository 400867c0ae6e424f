// What a fault knows beside itself: places, calls, observations, deliveries, events.

import CKVO

extension KeyValueFault {
  /// The calls that led to a place, innermost first.
  public struct Stack: Sendable {
    /// Where each call returns to.
    public let returnAddresses: [UInt]

    /// Each call as reports write it, such as `Document.close() -> ()  App+0x33a1`: the function, when the module's file names it, and
    /// the offset in the file, for `addr2line`. Looked up when asked for.
    public var calls: [String] {
      returnAddresses.map { address in
        formatted { kvo_call_format(UnsafeRawPointer(bitPattern: address), $0, $1) }
      }
    }

    init(_ frames: UnsafePointer<UnsafeMutableRawPointer?>?, count: Int) {
      returnAddresses = UnsafeBufferPointer(start: frames, count: count).map { UInt(bitPattern: $0) }
    }
  }

  /// An observation that a fault is about.
  public struct Observation: Sendable {
    /// The key path as registered.
    public let keyPath: String
    /// The class of the object, when it is known.
    public let objectClass: String?
    /// The class of the observer, when it is known.
    public let observerClass: String?
    /// The file in which the observation was made, as `#fileID` gives it, when it is known.
    public let file: String?
    /// The line.
    public let line: Int
    /// The calls that made it, if `KVO_STACKS` asked for them.
    public let stack: Stack

    init(_ described: kvo_fault_observation) {
      keyPath = String(cString: described.key_path)
      objectClass = described.object_class.map { String(cString: $0) }
      observerClass = described.observer_class.map { String(cString: $0) }
      file = string(described.file, length: described.file_length)
      line = Int(described.line)
      stack = Stack(described.frames, count: described.frame_count)
    }
  }

  /// A place that a fault is about.
  public struct Site: Sendable {
    /// What happened there, such as `removed`.
    public let label: String
    /// The file, as `#fileID` gives it, when it is known.
    public let file: String?
    /// The line.
    public let line: Int
    /// The kernel's number of the thread, when it is known.
    public let thread: Int?
    /// How long before the fault, in seconds, when it is known.
    public let age: Double?
    /// The calls that led there, if `KVO_STACKS` asked for them.
    public let stack: Stack

    init(_ site: kvo_fault_site) {
      label = String(cString: site.label)
      file = string(site.file, length: site.file_length)
      line = Int(site.line)
      thread = site.thread == 0 ? nil : Int(site.thread)
      age = site.age < 0 ? nil : site.age
      stack = Stack(site.frames, count: site.frame_count)
    }
  }

  /// A delivery that was in progress.
  public struct Step: Sendable {
    /// What was told.
    public let observation: Observation
    /// How many steps from this one on are repeated, 0 if none is.
    public let round: Int
    /// How many times more they happened, one within the other, before the next step.
    public let repeats: Int

    init(_ step: kvo_fault_step) {
      observation = Observation(step.observation)
      round = step.round
      repeats = step.repeats
    }
  }

  /// What happened to an object.
  public struct Event: Sendable {
    /// What can happen to it.
    public enum Kind: Sendable {
      /// An observation was made.
      case registered
      /// An observation ended.
      case ended
      /// A property changed.
      case changed
      /// An observer was told.
      case delivered
      /// The object was deallocated.
      case died
    }

    /// What happened.
    public let kind: Kind
    /// How long before the fault, in seconds.
    public let age: Double
    /// The kernel's number of the thread.
    public let thread: Int
    /// The object's class.
    public let objectClass: String
    /// The key, or the key path of an observation.
    public let keyPath: String
    /// The file in which the observation was made, when it is known.
    public let file: String?
    /// The line.
    public let line: Int
    /// The new value, if `KVO_VALUES` asked for it and it is a number or a string.
    public let value: String?

    init(_ event: kvo_event) {
      kind =
        switch event.kind {
        case KVO_EVENT_REGISTERED: .registered
        case KVO_EVENT_ENDED: .ended
        case KVO_EVENT_CHANGED: .changed
        case KVO_EVENT_DELIVERED: .delivered
        default: .died
        }
      age = event.age
      thread = Int(event.thread)
      objectClass = String(cString: event.object_class)
      keyPath = String(cString: event.key_path)
      file = event.file.map { String(cString: $0) }
      line = Int(event.line)
      value = event.value.map { String(cString: $0) }
    }
  }
}

/// Characters that need not end with NUL.
func string(_ start: UnsafePointer<CChar>?, length: Int) -> String? {
  start.map { String(decoding: UnsafeRawBufferPointer(start: $0, count: length), as: UTF8.self) }
}

/// What a function of C writes that says, as `snprintf`, how long the whole is.
func formatted(_ write: (UnsafeMutablePointer<CChar>?, Int) -> Int) -> String {
  func attempt(_ capacity: Int) -> (text: String?, length: Int) {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: capacity) { buffer in
      let length = write(buffer.baseAddress, buffer.count)
      return (length < capacity ? String(cString: buffer.baseAddress!) : nil, length)
    }
  }
  var (text, length) = attempt(16384)
  while text == nil { (text, length) = attempt(length + 1024) }
  return text!
}
