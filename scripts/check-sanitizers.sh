#!/usr/bin/env bash
# Runs the Swift tests under sanitizers: scripts/check-sanitizers.sh [thread] [address]; default: both.
# Tests that end a process deliberately are skipped: they check the exit status of the child, which the sanitizers change.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/require.sh swift git libffi-dev libncurses-dev

(($#)) || set -- thread address
# The runtime's own crash report would be mixed with the sanitizer's.
export SWIFT_BACKTRACE=enable=no
export TSAN_OPTIONS=halt_on_error=1:suppressions=$PWD/scripts/tsan.supp${TSAN_OPTIONS:+:$TSAN_OPTIONS}
# Foundation's Process leaks for each program that it starts. The C suite checks the runtime for leaks.
export ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}

for sanitizer in "$@"; do
  echo "== Swift tests, --sanitize=$sanitizer"
  skipped=(--skip 'CrashDiagnosticsTests\.FaultTests')
  # ThreadSanitizer's allocator does not support a fork while other threads allocate: the child deadlocks.
  [[ $sanitizer == thread ]] && skipped+=(--skip "child of a fork")
  # This test is a typical program with a data race: Foundation reads an unsynchronized state while another thread sets it.
  [[ $sanitizer == thread ]] && skipped+=(--skip "A state with willSet and didSet that announce")
  for package in Tools Examples/Monitor .; do
    swift test --package-path $package --disable-build-manifest-caching --scratch-path ".build/$sanitizer" \
      --sanitize="$sanitizer" --disable-xctest "${skipped[@]}"
  done
done
