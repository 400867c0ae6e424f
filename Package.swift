// swift-tools-version: 6.2
// The library: the C runtime, the Swift layer on top of it, the macro (behind a trait), and their tests.

import CompilerPluginSupport
import PackageDescription

let package = Package(
  name: "swift-kvo",
  products: [
    .library(name: "KeyValueObserving", targets: ["KeyValueObserving"]),
    .library(name: "KeyValueObservingTesting", targets: ["KeyValueObservingTesting"]),
    .library(name: "CKVO", targets: ["CKVO"]),
  ],
  traits: [
    // Disable it to build the library without swift-syntax, which takes minutes to compile; accessors are then written by hand.
    .trait(name: "Macros", description: "The macro @KeyValueObservable."),
    // Without it OpenCombine is neither fetched nor built.
    .trait(name: "OpenCombine", description: "Publishers for OpenCombine: publisher(for:)."),
    .default(enabledTraits: ["Macros"]),
  ],
  dependencies: [
    .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
  ],
  targets: [
    // The C runtime: libc and libffi only. CShim/CMakeLists.txt builds the same files as libkvo.
    .target(
      name: "CKVO", path: "CShim",
      exclude: ["CMakeLists.txt", "README.md", "cmake", "abi", "meson.build", "meson_options.txt", "src/README.md"],
      sources: ["src"],
      publicHeadersPath: "include",
      cSettings: [.headerSearchPath("src"), .define("KVO_ASSERTIONS", to: "1", .when(configuration: .debug))],
      linkerSettings: [.linkedLibrary("ffi"), .linkedLibrary("pthread")]),
    .target(
      name: "KeyValueObserving",
      dependencies: [
        "CKVO", "CSwiftRuntime", .target(name: "KeyValueObservingMacros", condition: .when(traits: ["Macros"])),
        .product(name: "OpenCombine", package: "OpenCombine", condition: .when(traits: ["OpenCombine"])),
      ]),
    // Declarations, and some functions.
    .target(name: "CSwiftRuntime"),
    // For tests of programs that use the library. It imports Testing and XCTest, which are part of the toolchain.
    .target(name: "KeyValueObservingTesting", dependencies: ["KeyValueObserving", "CSwiftRuntime"]),
    .macro(
      name: "KeyValueObservingMacros",
      dependencies: [
        .product(name: "SwiftCompilerPlugin", package: "swift-syntax", condition: .when(traits: ["Macros"])),
        .product(name: "SwiftSyntaxMacros", package: "swift-syntax", condition: .when(traits: ["Macros"])),
      ]),
    .testTarget(
      name: "MacrosTests",
      dependencies: [
        .target(name: "KeyValueObservingMacros", condition: .when(traits: ["Macros"])),
        .product(
          name: "SwiftSyntaxMacrosGenericTestSupport", package: "swift-syntax", condition: .when(traits: ["Macros"])),
      ]),
    .testTarget(name: "MacroUsageTests", dependencies: ["KeyValueObserving"]),
    .testTarget(name: "ObservingTests", dependencies: ["KeyValueObserving", "KeyValueObservingTesting", "CKVO"]),
    .testTarget(
      name: "EverydayTests", dependencies: ["KeyValueObserving", "KeyValueObservingTesting", "CKVO", "CSupport"]),
    .testTarget(name: "TestingTests", dependencies: ["KeyValueObserving", "KeyValueObservingTesting"]),
    .testTarget(name: "CollectionTests", dependencies: ["KeyValueObserving", "CKVO"]),
    // A C program for the interoperability tests.
    .target(name: "CSupport", dependencies: ["CKVO"], path: "Tests/CSupport"),
    .testTarget(name: "InteropTests", dependencies: ["KeyValueObserving", "CKVO", "CSupport"]),
    // Runs the examples on the pages of Documentation/Faults.
    .target(name: "CFaultPages", dependencies: ["CKVO"], path: "Tests/CFaultPages"),
    .testTarget(name: "FaultPageTests", dependencies: ["KeyValueObserving", "CKVO", "CFaultPages"]),
    .testTarget(name: "ConformanceTests", dependencies: ["KeyValueObserving", "CKVO"]),
    .testTarget(name: "CodingTests", dependencies: ["KeyValueObserving", "CKVO", "CSupport"]),
    .testTarget(name: "PortingTests", dependencies: ["KeyValueObserving"]),
    .testTarget(name: "CoreTests", dependencies: ["KeyValueObserving"]),
  ]
)

// MacrosTests depend on the macro itself. With it in the same build SwiftPM would compile the library and all tests for the host, and the
// library once more as what other packages use. So it is a build of its own: KVO_MACRO_TESTS=1 swift test
let testsMacro = Context.environment["KVO_MACRO_TESTS"] != nil
package.targets.removeAll { $0.type == .test && ($0.name == "MacrosTests") != testsMacro }
