// Counts deterministic costs: bytes, and under callgrind instructions and allocations.
//   Counts bytes INDEX    our bytes and the peer's for one footprint; one per process, because tables that have grown stay
//   Counts costs          one line per row: its name and its allocations; callgrind's files have the instructions (scripts/check-costs.sh)
//   Counts --list         the growing operations, one per line
//   Counts NAME N         runs one of them with N elements, while callgrind collects (scripts/check-scaling.sh)

import CCounting
import Foundation
import Rows

/// The number of operations of a row that are counted.
let operations = 1000

func printBytes(of footprint: Footprint) {
  func count(_ work: () -> Void) -> Int {
    ccounting_begin_blocks()
    work()
    return ccounting_end_blocks()
  }
  print(footprint.ours(count), footprint.theirs(count), separator: "\t")
}

func printCosts() {
  guard ccounting_under_valgrind() else { fail("costs are counted under callgrind: see scripts/check-costs.sh") }
  for row in Row.counted {
    let workload = row.make()
    // The first runs do what is done only once, such as binding symbols and growing tables.
    for count in [2 * operations, operations] {
      workload.prepare(count)
      workload.run(count)
    }
    workload.prepare(operations)
    let before = ccounting_allocations()
    ccounting_begin_instructions()
    workload.run(operations)
    let allocations = ccounting_allocations() - before
    ccounting_end_instructions(row.name)
    print(row.name, allocations, separator: "\t")
  }
}

func grow(_ operation: Growing, to count: Int) {
  // The first run does what is done only once, such as describing classes.
  operation.make(2)()
  let run = operation.make(count)
  ccounting_begin_collecting()
  run()
  ccounting_end_collecting()
}

func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data("Counts: \(message)\n".utf8))
  exit(1)
}

let footprints = Footprint.all
let arguments = CommandLine.arguments.dropFirst()
if arguments == ["costs"] {
  printCosts()
} else if arguments.first == "bytes", let index = arguments.last.flatMap({ Int($0) }), footprints.indices ~= index {
  printBytes(of: footprints[index])
} else if arguments == ["--list"] {
  for operation in Growing.all { print(operation.name) }
} else if let operation = Growing.all.first(where: { $0.name == arguments.first }),
  let count = arguments.last.flatMap({ Int($0) })
{
  grow(operation, to: count)
} else {
  fail(
    "expected \"costs\", \"--list\", the name of an operation and a number, or \"bytes\" and a number below \(footprints.count)"
  )
}
