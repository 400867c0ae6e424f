#!/usr/bin/env bash
# Keeps the present reports as those that Tools/Tests/CrashDiagnosticsTests/Golden has, one for each code; look at what git shows then.
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p Tools/Tests/CrashDiagnosticsTests/Golden
scripts/quietly.sh bless-reports env KVO_BLESS_REPORTS=1 swift test --package-path Tools --disable-build-manifest-caching --disable-xctest --filter CrashDiagnosticsTests.ScenarioTests
git --no-pager diff --stat -- Tools/Tests/CrashDiagnosticsTests/Golden
