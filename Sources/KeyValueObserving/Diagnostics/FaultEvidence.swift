// Details of a fault: source locations, call stacks, observations, deliveries and events.

import CKVO

extension KeyValueFault {
  /// A call stack, innermost call first.
  public struct Stack: Sendable {
    /// The return address of each call.
    public let returnAddresses: [UInt]

    /// The text for each call as in reports, such as `Document.close() -> ()  App+0x33a1`: the function, if the module's symbol
    /// table names it, and the offset in the file for `addr2line`. Symbols are looked up when this property is read.
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
    /// The class of the object, if known.
    public let objectClass: String?
    /// The class of the observer, if known.
    public let observerClass: String?
    /// What the registration said about itself, such as the queue that delivers and the `userInfo`.
    public let note: String?
    /// The file in which the observation was registered, as from `#fileID`, if known.
    public let file: String?
    /// The line in that file.
    public let line: Int
    /// The call stack of the registration, if `KVO_STACKS` requests it.
    public let stack: Stack

    init(_ described: kvo_fault_observation) {
      keyPath = String(cString: described.key_path)
      objectClass = described.object_class.map { String(cString: $0) }
      observerClass = described.observer_class.map { String(cString: $0) }
      note = described.note.map { String(cString: $0) }
      file = string(described.file, length: described.file_length)
      line = Int(described.line)
      stack = Stack(described.frames, count: described.frame_count)
    }
  }

  /// A source location that a fault refers to.
  public struct Site: Sendable {
    /// The kind of the event at this location, such as `removed`.
    public let label: String
    /// The file, as from `#fileID`, if known.
    public let file: String?
    /// The line in that file.
    public let line: Int
    /// The kernel's thread ID, if known.
    public let thread: Int?
    /// The time between the event and the fault in seconds, if known.
    public let age: Double?
    /// The call stack of the event, if `KVO_STACKS` requests it.
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

  /// A delivery in progress.
  public struct Step: Sendable {
    /// The observation that was being delivered.
    public let observation: Observation
    /// The number of steps, beginning with this one, that repeat; 0 if none do.
    public let round: Int
    /// The number of further nested repetitions before the next step.
    public let repeats: Int

    init(_ step: kvo_fault_step) {
      observation = Observation(step.observation)
      round = step.round
      repeats = step.repeats
    }
  }

  /// An event in the history of an object.
  public struct Event: Sendable {
    /// The kind of an event.
    public enum Kind: Sendable {
      /// An observation was registered.
      case registered
      /// An observation ended.
      case ended
      /// A property changed.
      case changed
      /// An observer was called.
      case delivered
      /// The object was deallocated.
      case died
    }

    /// The kind of the event.
    public let kind: Kind
    /// The time between the event and the fault in seconds.
    public let age: Double
    /// The kernel's thread ID.
    public let thread: Int
    /// The class of the object.
    public let objectClass: String
    /// The key, or the key path of an observation.
    public let keyPath: String
    /// The file in which the observation was registered, if known.
    public let file: String?
    /// The line in that file.
    public let line: Int
    /// The new value, if `KVO_VALUES` requests it and the value is a number or a string.
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

/// Returns a string from characters that need not be null-terminated.
func string(_ start: UnsafePointer<CChar>?, length: Int) -> String? {
  start.map { String(decoding: UnsafeRawBufferPointer(start: $0, count: length), as: UTF8.self) }
}

/// Returns the text that a C function writes. Like `snprintf`, the function returns the length of the whole text.
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
