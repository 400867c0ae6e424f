// Random scenarios compared with a shadow model, and random lines that may be valid or not.
import Foundation
import ScenarioLanguage
import Testing

/// Tries seeds until one fails or the time is over. KVO_SCENARIO_SEED in the environment sets a single seed.
private func untilTimeIsUp(_ seconds: Double, _ holds: (UInt64) -> Bool) {
  if let seed = ProcessInfo.processInfo.environment["KVO_SCENARIO_SEED"].flatMap({ UInt64($0) }) {
    _ = holds(seed)
    return
  }
  let end = Date(timeIntervalSinceNow: seconds)
  var seed: UInt64 = 1
  while holds(seed), Date() < end { seed += 1 }
}

@Suite("Random scenarios")
struct RandomScenarioTests {
  @Test func `Whatever a program does, observers and values agree with a shadow model`() {
    untilTimeIsUp(2) { seed in
      let scenario = RandomScenario(seed: seed, length: 60)
      let printed = answers(to: scenario.lines.joined(separator: "\n"))
      let difference = difference(scenario.expected, printed)
      #expect(difference.isEmpty, "KVO_SCENARIO_SEED=\(seed), - expected, + printed:\n\(difference)")
      return difference.isEmpty
    }
  }

  @Test func `Each old value is the previous new value, and a removed observer is not notified`() {
    untilTimeIsUp(1) { seed in
      var random = SeededGenerator(seed: seed)
      let path = random.pick(["v", "s", "full", "child.v", "deep", "pick.v", "total", "list", "bag", "ord", "cyc1"])
      let opening = ["new x T", "new c T", "new e T", "set x child @c", "set x a @c", "set x b @e"]
      let changes = (0..<30).map { _ in
        random.pick([
          "set x v \(random.below(9))", "set x s \"\(random.below(9))\"", "set x first \"\(random.below(9))\"",
          "set x last nil", "set c v \(random.below(9))", "set e v \(random.below(9))", "set x child @e",
          "set x child @c",
          "set x child nil", "set x usea true", "set x usea false", "set x a @e", "set x b @c", "kvc x child.v 4",
          "set x cyc2 \(random.below(9))", "set x cyc1 \(random.below(9))", "set x list [\(random.below(9))]",
          "set x bag {\(random.below(9))}", "set x ord <\(random.below(9)) 10>",
        ])
      }
      let scenario = opening + ["add x w \(path) initial,new,old"] + changes + ["rem x w \(path)"] + changes
      let notices = answers(to: scenario.joined(separator: "\n"))
      let removal = notices.firstIndex(of: "> rem x w \(path)")!
      let delivered = notices.filter { $0.hasPrefix("N ") }.map { Notice($0) }
      let isClean = !notices.contains { $0.hasPrefix("X ") || $0.hasPrefix("?") }
      let isSilent = !notices[removal...].contains { $0.hasPrefix("N ") }
      let isChain = zip(delivered, delivered.dropFirst()).allSatisfy { $0.new == $1.old }
      #expect(isClean && isSilent && isChain, "KVO_SCENARIO_SEED=\(seed), path \(path)")
      return isClean && isSilent && isChain
    }
  }

  @Test func `No invalid line ends the run or has no answer`() {
    untilTimeIsUp(2) { seed in
      var random = SeededGenerator(seed: seed)
      let lines = (0..<60).map { _ in randomLine(&random) }
      let printed = answers(to: lines.joined(separator: "\n"))
      let isWhole = printed.filter { $0.hasPrefix("> ") }.count == lines.count
      let isKnown = printed.allSatisfy { line in ["> ", "N ", "V ", "X ", "D ", "? "].contains { line.hasPrefix($0) }
      }
      #expect(isWhole && isKnown, "KVO_SCENARIO_SEED=\(seed)")
      return isWhole && isKnown
    }
  }

  @Test func `Endless reactions are stopped with a message`() {
    let printed = answers(
      to: "new x T\non w v 1000000 set x v 1\non u v 1000000 set x v 2\nadd x w v\nadd x u v\nset x v 0\nget x d")
    #expect(printed.contains { $0.hasPrefix("? ") })
    #expect(printed.last == "V 0")
  }
}

private struct Notice {
  let old: String
  let new: String

  init(_ line: String) {
    func field(_ name: String, _ next: String) -> String {
      let start = line.range(of: " \(name)=")!.upperBound
      return String(line[start..<line.range(of: " \(next)=")!.lowerBound])
    }
    old = field("old", "new")
    new = field("new", "idx")
  }
}

/// Returns a line of words from commands, in an order that is often valid.
private func randomLine(_ random: inout SeededGenerator) -> String {
  let names = ["x", "y", "z", "w1", "w2", "@x", ""]
  let paths = [
    "v", "d", "flag", "r", "s", "child", "a", "b", "hidden", "_hidden", "manual", "first", "full", "twice", "deep",
    "pair",
    "cyc1", "cyc2", "pick", "usea", "total", "list", "min", "slow", "ivars", "bag", "slowbag", "ivarbag", "ord",
    "nosuch",
    "child.v", "child.child.v", "pick.v", "list.v", "list.@count", "list.@sum.v", "list.@bogus.v", "@count",
    "child.list",
    "s.length", ".", "child.", ".v", "\"\"", "*", "v.v", "bag.@count", "list.@avg.v", "list.@unionOfArrays.v",
    "x.y.z",
  ]
  let values = [
    "nil", "null", "0", "1", "-3", "1.5", "1e400", "true", "false", "\"t\"", "\"", "\"\\q\"", "@x", "@y", "@gone",
    "r:1:2", "r:-1:2",
    "[1 2]", "[]", "[@x @y]", "{1 2}", "{@x}", "{[1] {2}}", "<1 2>", "[1", "9223372036854775807",
    "99999999999999999999", "é",
  ]
  let operations = [
    "insert", "add", "remove", "replace", "removelast", "removeobj", "removeall", "insertmany", "removemany",
    "replacemany",
    "setarray", "exchange", "count", "union", "minus", "intersect", "set", "addobj", "nonsense",
  ]
  let indexes = ["0", "1", "2", "0,1", "5", "-1", "0,0", "2147483647", "9999999999", "x", "0,"]
  let options = [
    "none", "new", "old", "new,old", "new,old,initial,prior", "initial", "prior", "bogus", "ctx=1", "ctx=-1", "",
  ]
  let kinds = ["insert", "remove", "replace", "set", "union", "minus", "intersect"]
  func command(_ depth: Int) -> String {
    let (x, path, value) = (random.pick(names), random.pick(paths), random.pick(values))
    switch random.below(24) {
    case 0: return "new \(x) \(random.pick(["T", "T", "T", "Man", "Sub", "Dict", "Proxy", "U", ""]))"
    case 1: return "free \(x)"
    case 2: return random.below(10) == 0 ? "reset" : "info \(x)"
    case 3, 4, 5, 6:
      return "add \(x) \(random.pick(["w1", "w2"])) \(path) \(random.pick(options)) \(random.pick(options))"
    case 7: return "rem \(x) \(random.pick(["w1", "w2"])) \(path) \(random.pick(["", "", "ctx=0", "ctx=1"]))"
    case 8, 9: return "set \(x) \(path) \(value)"
    case 10: return "kvc \(x) \(path) \(value)"
    case 11: return "raw \(x) \(path) \(value)"
    case 12: return "get \(x) \(path)"
    case 13: return "\(random.pick(["will", "did"])) \(x) \(path)"
    case 14: return "\(random.pick(["willidx", "dididx"])) \(x) \(random.pick(kinds)) \(path) \(random.pick(indexes))"
    case 15: return "\(random.pick(["willset", "didset"])) \(x) \(path) \(random.pick(kinds)) \(value)"
    case 16, 17, 18, 19:
      let arguments = random.pick(["\(random.pick(indexes)) \(value)", value, random.pick(indexes), ""])
      return "\(random.pick(["arr", "sets", "oset", "acc"])) \(x) \(path) \(random.pick(operations)) \(arguments)"
    case 20: return "\(random.pick(["inc", "isa"])) \(x)"
    case 21: return "both \(x) \(value)"
    case 22 where depth < 3:
      return
        "\(random.pick(["on", "onprior"])) w1 \(random.pick([path, "*"])) \(random.pick(["1", "2", "x"])) \(command(depth + 1))"
    default: return random.pick(["# text", "bogus \(value)", value, "new x T", "new y T"])
    }
  }
  return command(0)
}
