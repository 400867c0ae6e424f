#!/usr/bin/env bash
# Builds the library without the trait Macros, and therefore without swift-syntax, and runs the tests that need no macro. This is
# done in a folder of symbolic links: with the trait disabled, SwiftPM would delete the dependencies from Package.resolved, and the
# next build would have to resolve them through the network.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/require.sh swift git libffi-dev

core=build/without-macros
mkdir -p "$core"
for part in Package.swift Sources CShim Tests Documentation; do ln -sfn "../../$part" "$core/$part"; done
exec swift test --package-path "$core" --disable-default-traits "$@"
