#!/usr/bin/env bash
# Saves the present reports as the golden reports in Tools/Tests/CrashDiagnosticsTests/Golden, one per code. Review the changes with
# git.
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p Tools/Tests/CrashDiagnosticsTests/Golden
scripts/quietly.sh bless-reports env KVO_BLESS_REPORTS=1 swift test --package-path Tools --disable-build-manifest-caching --disable-xctest --filter CrashDiagnosticsTests.ScenarioTests
git --no-pager diff --stat -- Tools/Tests/CrashDiagnosticsTests/Golden
