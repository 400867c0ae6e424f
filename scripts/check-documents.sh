#!/usr/bin/env bash
# Checks the links in all documents, and runs a short form of each command in README.md, CONTRIBUTING.md and the guides, as listed in
# Tests/Documents/commands.txt.
#   scripts/check-documents.sh          the commands that take seconds
#   scripts/check-documents.sh --slow   all that no other check runs
#   scripts/check-documents.sh --list   only prints them
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/require.sh swift python3 cmake ninja-build gcc libffi-dev libncurses-dev pkg-config
if [[ ${1:-} != --list ]]; then
  for product in Tools:kvo Examples/Monitor:hostwatch Examples/Monitor:monitor; do
    package=(--package-path "${product%:*}" --scratch-path .build --disable-build-manifest-caching)
    scripts/quietly.sh "check-documents-${product#*:}" swift build "${package[@]}" --product "${product#*:}"
    PATH=$(realpath "$(swift build "${package[@]}" --show-bin-path)"):$PATH
  done
  export PATH
  # Some commands use the library and a test of scripts/check-c.sh --quick; in a new checkout there are none yet.
  c=build/c/gcc-O2
  [[ -f $c/build.ninja ]] || scripts/quietly.sh check-documents-cmake \
    cmake -S CShim -B $c -G Ninja -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-O2 -g"
  scripts/quietly.sh check-documents-c cmake --build $c --target kvo test_basics
fi
[[ ${1:-} == --list ]] || python3 scripts/links.py
exec python3 scripts/documents.py build/documents "$@"
