#!/usr/bin/env bash
# Proves that the crash catalogue detects missing faults: with each fault switched off in turn, every scenario that expects it has
# to fail.
#   scripts/check-mutations.sh           scenarios in Swift and C; builds the Swift package in .build/mutations
#   scripts/check-mutations.sh --quick   only the scenarios in C
set -euo pipefail
cd "$(dirname "$0")/.."

# In this build the runtime does not raise the fault that the variable KVO_WITHOUT names.
flag=-DKVO_MUTATIONS
if [[ ${1:-} == --quick ]]; then
  scripts/require.sh libffi-dev cmake ninja-build gcc pkg-config
  out=build/c/mutations
  mkdir -p build/c
  cmake -S CShim -B "$out" -G Ninja -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-O1 -g $flag" >"$out.txt" 2>&1 &&
    cmake --build "$out" --target kvo_crash >>"$out.txt" 2>&1 || { cat "$out.txt" >&2; exit 1; }
  program=("$out/tests/kvo_crash")
else
  scripts/require.sh swift git libffi-dev
  options=(--package-path Tools --disable-build-manifest-caching --scratch-path .build/mutations -Xcc "$flag" --product kvo)
  scripts/quietly.sh check-mutations swift build "${options[@]}"
  program=("$(swift build "${options[@]}" --show-bin-path)/kvo" crash)
fi
# A scenario that already fails would prove nothing.
"${program[@]}" --all >build/mutations.txt || { grep -A 1 FAIL build/mutations.txt >&2; exit 1; }
echo "== each fault switched off in turn"
"${program[@]}" --mutations || { echo "check-mutations: a scenario passes although its fault is not raised: it proves nothing" >&2; exit 1; }
