// swift-tools-version: 6.1
// The benchmarks: a separate package, so that users of the library do not fetch its dependencies.

import PackageDescription

let package = Package(
  name: "Benchmarks",
  dependencies: [
    .package(name: "swift-kvo", path: ".."),
    // No traits: the default one needs jemalloc.
    .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
    // A peer.
    .package(url: "https://github.com/OpenCombine/OpenCombine", exact: "0.14.0"),
  ],
  targets: [
    // The measured operations: ours, and those of the peers in Swift.
    .target(
      name: "Rows",
      dependencies: [
        "CRows",
        .product(name: "KeyValueObserving", package: "swift-kvo"),
        .product(name: "OpenCombine", package: "OpenCombine"),
      ]),
    .target(name: "CRows", dependencies: [.product(name: "CKVO", package: "swift-kvo")]),
    // Measures time, alternating with the peers.
    .executableTarget(
      name: "Observing",
      dependencies: ["Rows", .product(name: "Benchmark", package: "benchmark")],
      path: "Benchmarks/Observing",
      plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
    // Counts instructions, allocations and bytes. It replaces malloc, so nothing is timed in it.
    .executableTarget(name: "Counts", dependencies: ["Rows", "CCounting"]),
    .target(name: "CCounting"),
  ]
)
