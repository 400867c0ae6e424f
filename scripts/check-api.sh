#!/usr/bin/env bash
# Compares the public Swift API with Documentation/api-baseline.txt, and checks that each public symbol has a doc comment.
# To accept an intended change: scripts/check-api.sh --bless
set -euo pipefail
cd "$(dirname "$0")/.."

build=${KVO_BUILD_PATH:-.build}
graph=build/api
rm -rf "$graph"
mkdir -p "$graph"
scripts/quietly.sh check-api swift build --scratch-path "$build" --target KeyValueObservingTesting
modules=$(swift build --scratch-path "$build" --show-bin-path)/Modules
extract=$(dirname "$(readlink -f "$(command -v swift)")")/swift-symbolgraph-extract
for module in KeyValueObserving KeyValueObservingTesting; do
  "$extract" -module-name "$module" -I "$modules" -I CShim/include -I Sources/CSwiftRuntime/include \
    -target "$(uname -m)-unknown-linux-gnu" -minimum-access-level public -skip-synthesized-members -skip-inherited-docs \
    -output-dir "$graph"
done
exec python3 scripts/api.py "$graph" Documentation/api-baseline.txt "$@"
