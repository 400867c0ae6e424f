// swift-tools-version: 6.2
// The tools and the demo: a package of their own, so that users of the library do not fetch what they need.

import PackageDescription

let library: Target.Dependency = .product(name: "KeyValueObserving", package: "swift-kvo")
let runtime: Target.Dependency = .product(name: "CKVO", package: "swift-kvo")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
  name: "Tools",
  products: [
    .executable(name: "hostwatch", targets: ["hostwatch"]),
    .executable(name: "kvo", targets: ["kvo"]),
  ],
  dependencies: [
    .package(name: "swift-kvo", path: ".."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: [
    // The demo. Its program is apart, because tests cannot import an executable of a package with macros.
    .executableTarget(name: "hostwatch", dependencies: ["HostModel"]),
    .target(name: "HostModel", dependencies: [library, arguments]),
    // The command-line tool; its commands are apart for the same reason.
    .executableTarget(name: "kvo", dependencies: ["KVOTool"]),
    .target(
      name: "KVOTool",
      dependencies: ["ScenarioLanguage", "CrashScenarios", "CCrashScenarios", runtime, arguments],
      // A link to Documentation/Faults.
      exclude: ["Pages/README.md"], resources: [.embedInCode("Pages")]),
    // The language of `kvo scenario`.
    .target(name: "ScenarioLanguage", dependencies: [library, runtime, arguments]),
    // The crash catalogue: misuse on purpose, in both languages, and what runs and judges it.
    .target(name: "CrashScenarios", dependencies: ["CCrashScenarios", library]),
    .target(name: "CCrashScenarios", dependencies: [runtime]),
    .testTarget(name: "HostwatchTests", dependencies: ["HostModel", library]),
    .testTarget(
      name: "ScenarioTests", dependencies: ["ScenarioLanguage"], exclude: ["Differences.md", "Scenarios"]),
    .testTarget(name: "ToolTests", dependencies: ["KVOTool", runtime, arguments]),
    .testTarget(
      name: "CrashDiagnosticsTests",
      dependencies: [library, runtime, "CrashScenarios", "CCrashScenarios"], exclude: ["Golden"]),
  ]
)
