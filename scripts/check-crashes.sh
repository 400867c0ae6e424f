#!/usr/bin/env bash
# Runs the crash catalogue (crashes.py) with every way of building and starting a program. Codes, endings and first lines have to be the
# same.
#   scripts/check-crashes.sh --quick      with a debug build, whose reports are compared with Tests/Crash/reports-swift.txt
#   scripts/check-crashes.sh --bless      saves the present reports there, and those of C in Tests/Crash/reports.txt
#   scripts/check-crashes.sh [release|stripped|backtrace|address|thread]...   default: all; compared with debug
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/require.sh swift git libffi-dev python3

out=build/crashes
mkdir -p "$out"
export KVO_CRASH_SECONDS=60

# build <name> <folder> [options]: builds the program kvo.
build() {
  local options=(--package-path Tools --disable-build-manifest-caching --product kvo --scratch-path "${@:2}")
  scripts/quietly.sh "check-crashes-$1" swift build "${options[@]}"
  program=$(swift build "${options[@]}" --show-bin-path)/kvo
}

build debug .build
if [[ ${1:-} == --bless ]]; then
  scripts/crashes.py --reports Tests/Crash/reports-swift.txt --bless "$program" crash
  scripts/crashes.py --reports Tests/Crash/reports.txt --bless "$(scripts/libkvo.sh kvo_crash)/tests/kvo_crash"
  exec git --no-pager diff --stat -- Tests/Crash
fi
scripts/crashes.py --reports Tests/Crash/reports-swift.txt --json "$out/debug.json" "$program" crash
[[ ${1:-} != --quick ]] || exit 0

(($#)) || set -- release stripped backtrace address thread
failures=0
for variant in "$@"; do
  echo "== the crash catalogue, $variant"
  left='^$'
  case $variant in
    release | stripped) build release .build -c release ;;
    # With standard error closed, Swift's backtrace tool occasionally ends the program with SIGPIPE.
    backtrace) build debug .build && left='"id": "K93"' ;;
    # That tool cannot read the memory of a program with a sanitizer, and K97 tests only that tool.
    address | thread) build "$variant" ".build/$variant" --sanitize="$variant" && left='"id": "K97"' ;;
    *) echo "check-crashes: unknown variant \"$variant\"" >&2 && exit 2 ;;
  esac
  [[ $variant != stripped ]] || { strip -o "$out/kvo" "$program" && program=$out/kvo; }
  [[ $variant != backtrace ]] || export SWIFT_BACKTRACE=enable=yes,color=no
  # Names of functions may differ, so verdicts may; the comparison below decides, and has to have something to compare.
  rm -f "$out/$variant.json"
  scripts/crashes.py --json "$out/$variant.json" "$program" crash >"$out/$variant.txt" || true
  unset SWIFT_BACKTRACE
  ASAN_OPTIONS=detect_leaks=0 TSAN_OPTIONS=halt_on_error=1:suppressions=$PWD/scripts/tsan.supp \
    scripts/crashes.py --record "$program" crash || failures=$((failures + 1))
  diff <(grep -v "$left" "$out/debug.json") <(grep -v "$left" "$out/$variant.json") >"$out/$variant.diff" || {
    head -40 "$out/$variant.diff"
    echo "check-crashes: $variant differs from debug: $out/$variant.diff" >&2
    failures=$((failures + 1))
  }
done
((failures == 0))
