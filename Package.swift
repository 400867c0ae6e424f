// swift-tools-version: 6.2
// The package: the C runtime, the Swift layer on top of it, the macro (behind a trait), the tools and the tests.

import CompilerPluginSupport
import PackageDescription

let package = Package(
  name: "swift-kvo",
  products: [
    .library(name: "KeyValueObserving", targets: ["KeyValueObserving"]),
    .library(name: "CKVO", targets: ["CKVO"]),
    .executable(name: "hostwatch", targets: ["hostwatch"]),
    .executable(name: "kvo", targets: ["kvo"]),
  ],
  traits: [
    // Off: the library builds without swift-syntax, which costs minutes; accessors are then written by hand.
    .trait(name: "Macros", description: "The macro @KeyValueObservable and the tools written with it."),
    .default(enabledTraits: ["Macros"]),
  ],
  dependencies: [
    .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: [
    // The C runtime: libc and libffi only. CShim/CMakeLists.txt builds the same files as libkvo.
    .target(
      name: "CKVO", path: "CShim", exclude: ["CMakeLists.txt", "cmake", "abi"], sources: ["src"],
      publicHeadersPath: "include", linkerSettings: [.linkedLibrary("ffi"), .linkedLibrary("pthread")]),
    .target(
      name: "KeyValueObserving",
      dependencies: [
        "CKVO", "CSwiftRuntime", .target(name: "KeyValueObservingMacros", condition: .when(traits: ["Macros"])),
      ]),
    // A declaration only.
    .target(name: "CSwiftRuntime"),
    .macro(
      name: "KeyValueObservingMacros",
      dependencies: [
        .product(name: "SwiftCompilerPlugin", package: "swift-syntax", condition: .when(traits: ["Macros"])),
        .product(name: "SwiftSyntaxMacros", package: "swift-syntax", condition: .when(traits: ["Macros"])),
      ]),
    // The demo. Its program is apart, because tests cannot import an executable of a package with macros.
    .executableTarget(name: "hostwatch", dependencies: ["HostModel"]),
    .target(
      name: "HostModel",
      dependencies: [
        "KeyValueObserving",
        .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Macros"])),
      ]),
    // The command-line tool; its commands are apart for the same reason.
    .executableTarget(name: "kvo", dependencies: ["KVOTool"]),
    .target(
      name: "KVOTool",
      dependencies: [
        "ScenarioLanguage", "CrashScenarios", "CCrashScenarios", "CKVO",
        .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Macros"])),
      ],
      // A link to Documentation/Faults.
      exclude: ["Pages/README.md"], resources: [.embedInCode("Pages")]),
    // The crash catalogue: misuse on purpose, in both languages, and what runs and judges it.
    .target(name: "CrashScenarios", dependencies: ["KeyValueObserving", "CCrashScenarios"]),
    .target(name: "CCrashScenarios", dependencies: ["CKVO"]),
    .target(
      name: "ScenarioLanguage",
      dependencies: [
        "KeyValueObserving", "CKVO",
        .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Macros"])),
      ]),
    .testTarget(
      name: "MacrosTests",
      dependencies: [
        .target(name: "KeyValueObservingMacros", condition: .when(traits: ["Macros"])),
        .product(
          name: "SwiftSyntaxMacrosGenericTestSupport", package: "swift-syntax", condition: .when(traits: ["Macros"])),
      ]),
    .testTarget(name: "HostwatchTests", dependencies: ["HostModel", "KeyValueObserving"]),
    .testTarget(name: "MacroUsageTests", dependencies: ["KeyValueObserving"]),
    .testTarget(name: "ObservingTests", dependencies: ["KeyValueObserving", "CKVO"]),
    .testTarget(name: "CollectionTests", dependencies: ["KeyValueObserving", "CKVO"]),
    // A C program that the tests of interoperation talk to.
    .target(name: "CSupport", dependencies: ["CKVO"], path: "Tests/CSupport"),
    .testTarget(name: "InteropTests", dependencies: ["KeyValueObserving", "CKVO", "CSupport"]),
    .testTarget(
      name: "CrashDiagnosticsTests",
      dependencies: ["KeyValueObserving", "CKVO", "CrashScenarios", "CCrashScenarios"], exclude: ["Golden"]),
    // The pages of Documentation/Faults, their examples run.
    .target(name: "CFaultPages", dependencies: ["CKVO"], path: "Tests/CFaultPages"),
    .testTarget(name: "FaultPageTests", dependencies: ["KeyValueObserving", "CKVO", "CFaultPages"]),
    .testTarget(name: "ConformanceTests", dependencies: ["KeyValueObserving", "CKVO"]),
    .testTarget(name: "CodingTests", dependencies: ["KeyValueObserving", "CKVO", "CSupport"]),
    .testTarget(name: "PortingTests", dependencies: ["KeyValueObserving"]),
    .testTarget(
      name: "ScenarioTests",
      dependencies: ["ScenarioLanguage"], exclude: ["Differences.md", "Scenarios"]),
    .testTarget(
      name: "ToolTests",
      dependencies: [
        "KVOTool", "CKVO",
        .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Macros"])),
      ]),
    .testTarget(name: "CoreTests", dependencies: ["KeyValueObserving"]),
  ]
)
