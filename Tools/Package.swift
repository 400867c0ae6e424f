// swift-tools-version: 6.2
// The tools: a separate package, so that users of the library do not fetch its dependencies.

import PackageDescription

let library: Target.Dependency = .product(name: "KeyValueObserving", package: "swift-kvo")
let runtime: Target.Dependency = .product(name: "CKVO", package: "swift-kvo")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
  name: "Tools",
  products: [.executable(name: "kvo", targets: ["kvo"])],
  dependencies: [
    .package(name: "swift-kvo", path: ".."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: [
    // The command-line tool. Its code is in a separate target, because tests cannot import an executable of a package with macros.
    .executableTarget(name: "kvo", dependencies: ["KVOTool"]),
    .target(
      name: "KVOTool",
      dependencies: [
        "ScenarioLanguage", "CrashScenarios", "CCrashScenarios", "CViewPage", library, runtime, arguments,
      ]),
    // The page that `kvo view` makes, and the pages of faults, embedded.
    .target(name: "CViewPage", dependencies: [runtime], exclude: ["Page", "Graphviz"]),
    // The language of `kvo scenario`.
    .target(name: "ScenarioLanguage", dependencies: [library, runtime, arguments]),
    // The crash catalogue: deliberate misuse in both languages, and the code that runs and checks it.
    .target(name: "CrashScenarios", dependencies: ["CCrashScenarios", library]),
    .target(name: "CCrashScenarios", dependencies: [runtime]),
    .testTarget(
      name: "ScenarioTests", dependencies: ["ScenarioLanguage"], exclude: ["Differences.md", "Scenarios"]),
    .testTarget(name: "ToolTests", dependencies: ["KVOTool", runtime, arguments]),
    // What ToolTests looks at while it runs.
    .executableTarget(name: "served", dependencies: [library], path: "Tests/Served"),
    .testTarget(name: "CrashDiagnosticsTests", dependencies: [library, runtime]),
  ]
)
