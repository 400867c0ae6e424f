#!/usr/bin/env bash
# Builds the core without the trait Macros, so without swift-syntax, and runs the tests that need no macro.
# It does so in a folder of links: with the trait off, SwiftPM would delete the Package.resolved of the dependencies that the
# trait brings, and the next build would have to ask the network for them.
set -euo pipefail
cd "$(dirname "$0")/.."

core=build/without-macros
mkdir -p "$core"
for part in Package.swift Sources CShim Tests Documentation; do ln -sfn "../../$part" "$core/$part"; done
exec swift test --package-path "$core" --disable-default-traits "$@"
