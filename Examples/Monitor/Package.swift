// swift-tools-version: 6.2
// The examples: a monitor of this machine, in the terminal and in the browser. A package of its own, as a client of the library.

import PackageDescription

let observing: Target.Dependency = .product(name: "KeyValueObserving", package: "swift-kvo")
let testing: Target.Dependency = .product(name: "KeyValueObservingTesting", package: "swift-kvo")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
  name: "Monitor",
  products: [
    .executable(name: "hostwatch", targets: ["hostwatch"]),
    .executable(name: "monitor", targets: ["monitor"]),
    .executable(name: "avalanche", targets: ["avalanche"]),
  ],
  dependencies: [
    .package(name: "swift-kvo", path: "../.."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
  ],
  targets: [
    // The model of a machine, filled from /proc.
    .target(name: "HostModel", dependencies: [observing]),

    // The demo: prints what the model's observers are told. Tests cannot import an executable of a package with macros.
    .executableTarget(name: "hostwatch", dependencies: ["HostReport"]),
    .target(name: "HostReport", dependencies: ["HostModel", observing, arguments]),

    // One set that causes 1325 notifications, for `kvo view`.
    .executableTarget(name: "avalanche", dependencies: [observing]),

    // The monitor: one model, which the terminal and the page show and change.
    .executableTarget(name: "monitor", dependencies: ["MonitorModel", "MonitorTerminal", "MonitorWeb", arguments]),
    .target(name: "MonitorModel", dependencies: ["HostModel", observing]),
    .target(name: "MonitorTerminal", dependencies: ["MonitorModel", "HostModel", "CCurses", observing]),
    .systemLibrary(name: "CCurses", providers: [.apt(["libncurses-dev"])]),
    .target(
      name: "MonitorWeb",
      dependencies: [
        "MonitorModel", "HostModel", observing, "FlyingFox", .product(name: "FlyingSocks", package: "FlyingFox"),
      ],
      resources: [.embedInCode("Page/index.html")]),

    // A folder like /proc, which tests change.
    .target(name: "ProcFixture", dependencies: ["HostModel"], path: "Tests/ProcFixture"),
    .testTarget(name: "HostwatchTests", dependencies: ["HostModel", "HostReport", "ProcFixture", observing]),
    .testTarget(
      name: "MonitorTests",
      dependencies: ["HostModel", "MonitorModel", "MonitorWeb", "ProcFixture", observing, testing]),
  ]
)
