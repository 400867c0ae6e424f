// swift-tools-version: 6.1
// The benchmarks: a package of their own, so that users of the library do not fetch what they need.

import PackageDescription

let package = Package(
  name: "Benchmarks",
  dependencies: [
    .package(name: "swift-kvo", path: ".."),
    // No traits: the default one needs jemalloc.
    .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
  ],
  targets: [
    .target(name: "CPeers", dependencies: [.product(name: "CKVO", package: "swift-kvo")]),
    .executableTarget(
      name: "Observing",
      dependencies: [
        "CPeers",
        .product(name: "KeyValueObserving", package: "swift-kvo"),
        .product(name: "CKVO", package: "swift-kvo"),
        .product(name: "Benchmark", package: "benchmark"),
      ],
      path: "Benchmarks/Observing",
      plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
  ]
)
