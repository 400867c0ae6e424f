// swift-tools-version: 6.2
// A client that uses streams with swift-async-algorithms, and the publisher, which needs the trait OpenCombine. Without the macro, so
// that swift-syntax need not be built.

import PackageDescription

let package = Package(
  name: "Streams",
  dependencies: [
    .package(name: "swift-kvo", path: "../../..", traits: ["OpenCombine"]),
    .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.0.0"),
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
  ],
  targets: [
    .testTarget(
      name: "StreamsTests",
      dependencies: [
        .product(name: "KeyValueObserving", package: "swift-kvo"),
        .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
        .product(name: "OpenCombine", package: "OpenCombine"),
      ],
      path: "Tests")
  ]
)
