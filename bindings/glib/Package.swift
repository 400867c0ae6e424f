// swift-tools-version: 6.2
// kvo-glib for Swift: its C files compiled with the runtime of the Swift package, and Swift's words for it.

import PackageDescription

let package = Package(
  name: "swift-kvo-glib",
  products: [.library(name: "KeyValueObservingGLib", targets: ["KeyValueObservingGLib"])],
  dependencies: [.package(name: "swift-kvo", path: "../..")],
  targets: [
    .systemLibrary(
      name: "CGLib", path: "swift/CGLib", pkgConfig: "gio-2.0", providers: [.apt(["libglib2.0-dev"])]),
    // Declarations of libdispatch.
    .systemLibrary(name: "CMainQueue", path: "swift/CMainQueue"),
    .target(
      name: "CKVOGLib", dependencies: ["CGLib", .product(name: "CKVO", package: "swift-kvo")], path: ".",
      exclude: [
        "CMakeLists.txt", "Introspection.cmake", "README.md", "Packages.cmake", "kvo-glib.pc.in", "meson.build",
        "bench.c", "tests", "swift",
      ],
      publicHeadersPath: "include", cSettings: [.define("G_LOG_DOMAIN", to: "\"kvo-glib\"")]),
    .target(
      name: "KeyValueObservingGLib",
      dependencies: [
        "CGLib", "CKVOGLib", "CMainQueue", .product(name: "KeyValueObserving", package: "swift-kvo"),
        .product(name: "CKVO", package: "swift-kvo"),
      ], path: "swift/KeyValueObservingGLib"),
    .testTarget(
      name: "KeyValueObservingGLibTests",
      dependencies: [
        "KeyValueObservingGLib", "CGLib", .product(name: "KeyValueObserving", package: "swift-kvo"),
      ], path: "swift/Tests"),
  ]
)
