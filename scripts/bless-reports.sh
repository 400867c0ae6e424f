#!/usr/bin/env bash
# Keeps the present reports as those that Tests/CrashDiagnosticsTests/Golden has, one for each code; look at what git shows then.
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p Tests/CrashDiagnosticsTests/Golden
scripts/quietly.sh bless-reports env KVO_BLESS_REPORTS=1 swift test --disable-xctest --filter CrashDiagnosticsTests.ScenarioTests
git --no-pager diff --stat -- Tests/CrashDiagnosticsTests/Golden
