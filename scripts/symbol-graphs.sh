#!/usr/bin/env bash
# Writes the symbol graphs of the public Swift API, a folder for each module: scripts/symbol-graphs.sh FOLDER [OPTION OF THE EXTRACTOR…]
set -euo pipefail
cd "$(dirname "$0")/.."

graphs=$1
shift
rm -rf "$graphs"
scripts/quietly.sh symbol-graphs swift build --scratch-path .build --target KeyValueObservingTesting
modules=$(swift build --scratch-path .build --show-bin-path)/Modules
extract=$(dirname "$(readlink -f "$(command -v swift)")")/swift-symbolgraph-extract
for module in KeyValueObserving KeyValueObservingTesting; do
  mkdir -p "$graphs/$module"
  "$extract" -module-name "$module" -I "$modules" -I CShim/include -I Sources/CSwiftRuntime/include \
    -target "$(uname -m)-unknown-linux-gnu" -minimum-access-level public -skip-synthesized-members -skip-inherited-docs \
    -output-dir "$graphs/$module" "$@"
done
