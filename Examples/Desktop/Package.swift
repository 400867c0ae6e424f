// swift-tools-version: 6.2
// The process monitor as an application of GTK 4 and libadwaita. A package of its own, so that only who asks for it needs them.

import PackageDescription

let observing: Target.Dependency = .product(name: "KeyValueObserving", package: "swift-kvo")
let glib: Target.Dependency = .product(name: "KeyValueObservingGLib", package: "swift-kvo-glib")

let package = Package(
  name: "Desktop",
  products: [
    .executable(name: "editor", targets: ["editor"]),
    .executable(name: "desktop", targets: ["desktop"]),
  ],
  dependencies: [
    .package(name: "swift-kvo", path: "../.."),
    .package(name: "swift-kvo-glib", path: "../../bindings/glib"),
  ],
  targets: [
    // The model of Examples/Monitor, by symbolic links.
    .target(name: "HostModel", dependencies: [observing]),
    .target(name: "MonitorModel", dependencies: ["HostModel", observing]),

    .systemLibrary(name: "CAdwaita", pkgConfig: "libadwaita-1", providers: [.apt(["libadwaita-1-dev"])]),
    // The first window.
    .executableTarget(name: "editor", dependencies: ["CAdwaita", observing, glib]),
    .executableTarget(
      name: "desktop", dependencies: ["CAdwaita", "HostModel", "MonitorModel", observing, glib],
      resources: [.embedInCode("window.ui")]),
  ]
)
