// The slices of a trace: changes and deliveries, as a tree for each thread.

/// A change or a delivery.
struct Slice {
  enum Kind: Int { case change, delivery }

  var kind: Kind
  var event: TraceEvent
  var thread: Int
  var depth: Int
  var end: Double
  /// The change or delivery in which it is.
  var parent: Int?
  /// The first slice of its tree.
  var root: Int
  /// It is a change that notifies its observers in a later slice; those before the change are in this one.
  var isPaused = false
  /// It notifies the observers of a change whose first slice is this one, unless that is not in the trace.
  var begun: Int?
  /// The deliveries inside it, itself included.
  var notifications = 0
  /// The time of the slices directly inside it.
  var inner = 0.0
  var children = 0

  var start: Double { event.ts }
  var duration: Double { end - event.ts }
  var arguments: TraceEvent.Arguments? { event.args }
  var isResumed: Bool { arguments?.resumed == true }
  var name: String {
    (event.name ?? "") + (isPaused ? " (notifies later)" : isResumed ? " (set earlier)" : "")
  }
  /// Such as "Item.value": the class and the key.
  var property: String { Address(arguments?.object).className + "." + (arguments?.key ?? "?") }
}

/// An object in a trace, such as `Item@0x10`.
struct Address: Hashable {
  var className: String
  var address: String

  init(className: String, address: String) {
    self.className = className
    self.address = address
  }

  init(_ text: String?) {
    guard let text, let at = text.lastIndex(of: "@") else {
      self.init(className: text ?? "?", address: "")
      return
    }
    self.init(className: String(text[..<at]), address: String(text[text.index(after: at)...]))
  }
}

struct Trace {
  var slices: [Slice] = []
  /// Faults, and beginnings and ends of observations and objects.
  var instants: [TraceEvent] = []
  var threads: [Int: String] = [:]
  var threadOrder: [Int] = []
  /// The file and the build-id of each module, by its name.
  var modules: [String: (path: String, buildID: String)] = [:]
  var process = ""
  var isTruncated = false
  /// Slices that had no end when the recording ended.
  var openCount = 0

  init(_ file: TraceFile) {
    isTruncated = file.isTruncated
    var open: [Int: [Int]] = [:]
    var paused: [Change: [Int]] = [:]
    let last = file.events.map(\.ts).max() ?? 0
    for event in file.events {
      if event.ph != "M", !threadOrder.contains(event.tid) { threadOrder.append(event.tid) }
      switch event.ph {
      case "M": name(event)
      case "i", "I": instants.append(event)
      case "B":
        begin(event, &open[event.tid, default: []])
        if event.args?.resumed == true, let begun = paused[Change(event)]?.first {
          paused[Change(event)]!.removeFirst()
          slices[slices.count - 1].begun = begun
        }
      case "E":
        guard let index = open[event.tid]?.popLast() else { break }
        slices[index].end = event.ts
        slices[index].isPaused = event.args?.paused == true
        if slices[index].isPaused { paused[Change(slices[index].event), default: []].append(index) }
      default: break
      }
    }
    for index in open.values.joined() {
      slices[index].end = last
      openCount += 1
    }
    for index in slices.indices.reversed() {
      guard let parent = slices[index].parent else { continue }
      slices[parent].notifications += slices[index].notifications
      slices[parent].inner += slices[index].duration
      slices[parent].children += 1
    }
  }

  /// The delivery that directly makes a change; of a coalesced one, that which set it first.
  func setter(of index: Int) -> Int? {
    slices[slices[index].begun ?? index].parent.flatMap { slices[$0].kind == .delivery ? $0 : nil }
  }

  /// What a slice has in common with the one that resumes it.
  private struct Change: Hashable {
    var thread: Int
    var object, key: String?

    init(_ event: TraceEvent) { (thread, object, key) = (event.tid, event.args?.object, event.args?.key) }
  }

  private mutating func name(_ event: TraceEvent) {
    guard let name = event.args?.name else { return }
    switch event.name {
    case "process_name": process = name
    case "thread_name": threads[event.tid] = name
    case "kvo_module": modules[name] = event.args?.path.map { ($0, event.args?.buildId ?? "") }
    default: break
    }
  }

  private mutating func begin(_ event: TraceEvent, _ open: inout [Int]) {
    let kind: Slice.Kind = event.cat == "delivery" ? .delivery : .change
    slices.append(
      Slice(
        kind: kind, event: event, thread: event.tid, depth: open.count, end: event.ts, parent: open.last,
        root: open.first ?? slices.count, notifications: kind == .delivery ? 1 : 0))
    open.append(slices.count - 1)
  }
}
