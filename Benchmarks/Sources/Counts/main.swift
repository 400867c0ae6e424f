// Counts what does not vary: bytes, and under callgrind instructions and allocations.
//   Counts bytes          a line a footprint: its name, the peer, our bytes, its bytes
//   Counts costs          a line a row: its name and its allocations; instructions are in callgrind's files (scripts/check-costs.sh)

import CCounting
import Foundation
import Rows

/// Operations of a row that are counted.
let operations = 1000

func printBytes() {
  func count(_ work: () -> Void) -> Int {
    ccounting_begin_blocks()
    work()
    return ccounting_end_blocks()
  }
  for footprint in Footprint.all {
    print(footprint.name, footprint.against, footprint.ours(count), footprint.theirs(count), separator: "\t")
  }
}

func printCosts() {
  guard ccounting_under_valgrind() else { fail("costs are counted under callgrind: see scripts/check-costs.sh") }
  for row in Row.all {
    let workload = row.make()
    // What is done once, such as binding symbols and growing tables, is done before.
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

func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data("Counts: \(message)\n".utf8))
  exit(1)
}

switch CommandLine.arguments.dropFirst() {
case ["bytes"]: printBytes()
case ["costs"]: printCosts()
default: fail("expected \"bytes\" or \"costs\"")
}
