#!/usr/bin/env bash
# Saves the present reports as the golden reports: in Tools/Tests/CrashDiagnosticsTests/Golden one per code, and in
# Tests/Crash/reports.txt those of the scenarios in C. Review the changes with git.
#   scripts/bless-reports.sh --c    the latter only, without Swift
set -euo pipefail
cd "$(dirname "$0")/.."

out=build/c/reports
mkdir -p "$out"
cmake -S CShim -B "$out" -G Ninja -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-O2 -DKVO_BUILD_TESTS=ON >"$out.log"
cmake --build "$out" --target kvo_crash >>"$out.log"
"$out/tests/kvo_crash" --reports Tests/Crash/reports.txt
git --no-pager diff --stat -- Tests/Crash/reports.txt
[ "${1:-}" != --c ] || exit 0

mkdir -p Tools/Tests/CrashDiagnosticsTests/Golden
scripts/quietly.sh bless-reports env KVO_BLESS_REPORTS=1 swift test --package-path Tools --scratch-path .build \
  --disable-build-manifest-caching --disable-xctest --filter CrashDiagnosticsTests.ScenarioTests
git --no-pager diff --stat -- Tools/Tests/CrashDiagnosticsTests/Golden
