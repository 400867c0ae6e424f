// The strongly connected components of a graph, by Tarjan's algorithm without recursion.

struct Components {
  var number: [String: Int] = [:]
  var sizes: [Int] = []

  init(of graph: [String: Set<String>]) {
    var index: [String: Int] = [:]
    var lowest: [String: Int] = [:]
    var stack: [String] = []
    var open: Set<String> = []
    for root in graph.keys where index[root] == nil {
      var walk: [(vertex: String, next: [String])] = []
      func enter(_ vertex: String) {
        index[vertex] = index.count
        lowest[vertex] = index[vertex]
        stack.append(vertex)
        open.insert(vertex)
        walk.append((vertex, Array(graph[vertex] ?? [])))
      }
      enter(root)
      while let (vertex, next) = walk.last {
        if let target = next.last {
          walk[walk.count - 1].next.removeLast()
          if index[target] == nil {
            enter(target)
          } else if open.contains(target) {
            lowest[vertex] = min(lowest[vertex]!, index[target]!)
          }
          continue
        }
        walk.removeLast()
        if let caller = walk.last?.vertex { lowest[caller] = min(lowest[caller]!, lowest[vertex]!) }
        guard lowest[vertex] == index[vertex] else { continue }
        var size = 0
        while let member = stack.popLast() {
          open.remove(member)
          number[member] = sizes.count
          size += 1
          if member == vertex { break }
        }
        sizes.append(size)
      }
    }
  }
}
