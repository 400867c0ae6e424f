// The peers in Swift: a list of closures called in didSet, Swift's Observation, and OpenCombine.

import Observation
import OpenCombine

/// Handwritten observation: a list of closures that `didSet` calls with the old and the new value.
final class Handwritten {
  var handlers: [(Int, Int) -> Void] = []
  var number = 0 {
    didSet {
      for handler in handlers { handler(oldValue, number) }
    }
  }
}

/// The same with another list that is called before the change.
final class HandwrittenWithPrior {
  var priorHandlers: [(Int) -> Void] = []
  var handlers: [(Int, Int) -> Void] = []
  var number = 0 {
    willSet {
      for handler in priorHandlers { handler(number) }
    }
    didSet {
      for handler in handlers { handler(oldValue, number) }
    }
  }
}

@Observation.Observable
final class Observed {
  var number = 0
  var doubled: Int { number &* 2 }
}

final class Published {
  @OpenCombine.Published var number = 0
}

@inline(never) func set(_ object: Handwritten, _ value: Int) { object.number = value }
@inline(never) func set(_ object: HandwrittenWithPrior, _ value: Int) { object.number = value }
@inline(never) func set(_ object: Observed, _ value: Int) { object.number = value }
@inline(never) func set(_ object: Published, _ value: Int) { object.number = value }
@inline(never) func set(_ subject: CurrentValueSubject<Int, Never>, _ value: Int) { subject.value = value }

extension Workload {
  static func handwritten(handlers: Int) -> Workload {
    let (object, tally) = (Handwritten(), Tally())
    for _ in 0..<handlers { object.handlers.append { tally.add($1) } }
    return Workload { count in
      times(count) { set(object, $0) }
    }
  }

  static func handwrittenWithOldValue() -> Workload {
    let (object, tally) = (Handwritten(), Tally())
    object.handlers.append { tally.add($0 &+ $1) }
    return Workload { count in
      times(count) { set(object, $0) }
    }
  }

  static func handwrittenWithPrior() -> Workload {
    let (object, tally) = (HandwrittenWithPrior(), Tally())
    object.priorHandlers.append { tally.add($0) }
    object.handlers.append { tally.add($0 &+ $1) }
    return Workload { count in
      times(count) { set(object, $0) }
    }
  }

  static func observationUnobserved() -> Workload {
    let object = Observed()
    return Workload { count in
      times(count) { set(object, $0) }
    }
  }

  /// Tracking ends with the first change, so it is started again after each.
  static func observation() -> Workload {
    let (object, tally) = (Observed(), Tally())
    func arm() {
      let value = withObservationTracking {
        object.number
      } onChange: {
        tally.add(1)
      }
      tally.add(value)
    }
    arm()
    return Workload { count in
      for index in 0..<count {
        set(object, index)
        arm()
      }
    }
  }

  static func observationOfComputed() -> Workload {
    let (object, tally) = (Observed(), Tally())
    func arm() {
      let value = withObservationTracking {
        object.doubled
      } onChange: {
        tally.add(1)
      }
      tally.add(value)
    }
    arm()
    return Workload { count in
      for index in 0..<count {
        set(object, index)
        arm()
      }
    }
  }

  static func published(sinks: Int) -> Workload {
    let (object, tally) = (Published(), Tally())
    let tokens = (0..<sinks).map { _ in object.$number.sink { tally.add($0) } }
    return Workload { count in
      times(count) { set(object, $0) }
      withExtendedLifetime(tokens) {}
    }
  }

  static func currentValueSubject(sinks: Int) -> Workload {
    let (subject, tally) = (CurrentValueSubject<Int, Never>(0), Tally())
    let tokens = (0..<sinks).map { _ in subject.sink { tally.add($0) } }
    return Workload { count in
      times(count) { set(subject, $0) }
      withExtendedLifetime(tokens) {}
    }
  }

  static func sinkAndCancel() -> Workload {
    let (subject, tally) = (CurrentValueSubject<Int, Never>(0), Tally())
    return Workload { count in
      for _ in 0..<count { subject.sink { tally.add($0) }.cancel() }
    }
  }
}
