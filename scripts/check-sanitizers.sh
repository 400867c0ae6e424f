#!/usr/bin/env bash
# Runs the Swift tests under sanitizers: scripts/check-sanitizers.sh [thread] [address], both unless told.
# A test that ends a process on purpose is left out: the child would be judged by its exit, and sanitizers have their own.
set -euo pipefail
cd "$(dirname "$0")/.."

(($#)) || set -- thread address
# The runtime's own report of a crash would come between the sanitizer's and the reader.
export SWIFT_BACKTRACE=enable=no
export TSAN_OPTIONS=halt_on_error=1${TSAN_OPTIONS:+:$TSAN_OPTIONS}
# Foundation's Process is reported as a leak of each program that starts one. The C suite looks for leaks of the runtime.
export ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}

for sanitizer in "$@"; do
  echo "== Swift tests, --sanitize=$sanitizer"
  skipped=(--skip MacrosTests --skip 'CrashDiagnosticsTests\.(FaultTests|ScenarioTests)')
  # ThreadSanitizer's allocator is not prepared for a fork while other threads allocate: the child hangs in its lock.
  [[ $sanitizer == thread ]] && skipped+=(--skip "child of a fork")
  # Its program is as people write it: Foundation asks for a state that has no lock while another thread sets it.
  [[ $sanitizer == thread ]] && skipped+=(--skip "A state with willSet and didSet that announce")
  # MacrosTests run the plug-in's code, which has neither threads nor pointers.
  for package in Tools .; do
    swift test --package-path $package --disable-build-manifest-caching --scratch-path "$package/.build/$sanitizer" \
      --sanitize="$sanitizer" --disable-xctest "${skipped[@]}"
  done
done
