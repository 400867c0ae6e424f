// The figures that a running program answers, and what they say about the time between two of them.

/// An answer to the request `stats`: counts since counting began.
package struct Figures: Decodable {
  struct Observed: Decodable {
    let `class`: String
    let keyPath: String
    let objects: Int
    let observations: Int
  }
  struct Change: Decodable {
    let `class`: String
    let key: String
    let count: UInt64
  }
  struct Place: Decodable {
    let file: String
    let line: Int
    var text: String { "\(file):\(line)" }
  }
  struct Notification: Decodable {
    let `class`: String
    let keyPath: String
    let count: UInt64
    let nanoseconds: UInt64
    let longest: UInt64
    let observerClass: String?
    let registeredAt: Place?
  }
  /// The program's monotonic clock, in nanoseconds.
  let time: UInt64
  let objects: Int
  let keys: Int
  let observations: Int
  let faults: [String: Int]
  let observed: [Observed]
  let changes: [Change]
  let notifications: [Notification]
  let otherChanges: UInt64
  let otherNotifications: UInt64
}

/// What happened between two answers.
package struct Interval: Encodable {
  /// The observations that were registered at one place for a key path of a class.
  package struct Observer: Encodable {
    package let `class`: String
    package let keyPath: String
    package let observerClass: String?
    package let file: String?
    package let line: Int?
    package let notificationsPerSecond: Double
    /// Seconds in the observers for each second.
    package let busy: Double
    /// Of a notification in this interval, in nanoseconds; 0 without one.
    package let average: Double
    /// Since counting began, in nanoseconds.
    package let longest: UInt64
    /// Since counting began.
    package let notifications: UInt64
  }

  package struct Key: Encodable {
    package let `class`: String
    package let key: String
    package let changesPerSecond: Double
    package let objects: Int
    package let observations: Int
  }

  package let pid: Int32
  package let program: String
  package let seconds: Double
  package let objects: Int
  package let keys: Int
  package let observations: Int
  package let faults: [String: Int]
  package let notificationsPerSecond: Double
  package let changesPerSecond: Double
  /// Of observers and keys that are too many to be counted one by one.
  package let otherNotificationsPerSecond: Double
  package let otherChangesPerSecond: Double
  package var observers: [Observer]
  package var observedKeys: [Key]

  private struct Name: Hashable {
    let words: [String?]
  }

  init(of hello: Connection.Hello, from old: Figures, to new: Figures) {
    let time = new.time > old.time ? Double(new.time - old.time) / 1e9 : 1
    // Counting begins anew if there was no client in between.
    func difference(_ count: UInt64, _ before: UInt64?) -> Double {
      Double(count >= before ?? 0 ? count - (before ?? 0) : count)
    }

    pid = hello.pid
    program = hello.program
    seconds = time
    (objects, keys, observations, faults) = (new.objects, new.keys, new.observations, new.faults)
    otherNotificationsPerSecond = difference(new.otherNotifications, old.otherNotifications) / time
    otherChangesPerSecond = difference(new.otherChanges, old.otherChanges) / time

    func name(_ row: Figures.Notification) -> Name {
      Name(words: [row.class, row.keyPath, row.observerClass, row.registeredAt?.text])
    }
    let before = Dictionary(old.notifications.map { (name($0), $0) }, uniquingKeysWith: { first, _ in first })
    observers = new.notifications.map { row in
      let earlier = before[name(row)]
      let count = difference(row.count, earlier?.count)
      let nanoseconds = difference(row.nanoseconds, earlier?.nanoseconds)
      return Observer(
        class: row.class, keyPath: row.keyPath, observerClass: row.observerClass, file: row.registeredAt?.file,
        line: row.registeredAt?.line, notificationsPerSecond: count / time, busy: nanoseconds / 1e9 / time,
        average: count > 0 ? nanoseconds / count : 0, longest: row.longest, notifications: row.count)
    }

    func name(_ type: String, _ key: String) -> Name { Name(words: [type, key]) }
    let changed = Dictionary(old.changes.map { (name($0.class, $0.key), $0.count) }, uniquingKeysWith: +)
    var rates = Dictionary(new.changes.map { (name($0.class, $0.key), $0.count) }, uniquingKeysWith: +)
      .reduce(into: [Name: Double]()) { $0[$1.key] = difference($1.value, changed[$1.key]) / time }
    notificationsPerSecond = observers.reduce(otherNotificationsPerSecond) { $0 + $1.notificationsPerSecond }
    changesPerSecond = rates.values.reduce(otherChangesPerSecond, +)
    observedKeys = new.observed.map { row in
      Key(
        class: row.class, key: row.keyPath,
        changesPerSecond: rates.removeValue(forKey: name(row.class, row.keyPath)) ?? 0, objects: row.objects,
        observations: row.observations)
    }
    // Keys that are observed only through key paths and expressions.
    for (name, rate) in rates where rate > 0 {
      observedKeys.append(
        Key(class: name.words[0]!, key: name.words[1]!, changesPerSecond: rate, objects: 0, observations: 0))
    }
  }
}
