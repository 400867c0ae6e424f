#!/usr/bin/env bash
# Runs the crash catalogue with every way of building and starting a program. Codes, endings and first lines have to be the same.
#   scripts/check-crashes.sh [debug|release|address|thread|stripped|backtrace]...   default: all; the others are compared with debug
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/require.sh swift git libffi-dev

(($#)) || set -- release stripped backtrace address thread
out=build/crashes failures=0 tools=(--package-path Tools --disable-build-manifest-caching)
mkdir -p "$out"
export KVO_CRASH_SECONDS=60

# build <name> <folder> [options]: builds the program kvo.
build() {
  local name=$1
  shift
  local options=("${tools[@]}" --product kvo --scratch-path "$@")
  scripts/quietly.sh "check-crashes-$name" swift build "${options[@]}"
  program=$(swift build "${options[@]}" --show-bin-path)/kvo
}

# The output that must not differ.
run() {
  local name=$1
  shift
  "$@" crash --all --json >"$out/$name.json" || true
}

# Selects the part of the output that has to be the same. Function names may differ, so verdicts may.
compared() { sed 's/,"passed":.*//' "$2" | if [[ -n $1 ]]; then grep -vE "$1"; else cat; fi; }

complain() {
  echo "check-crashes: $*" >&2
  failures=$((failures + 1))
}

build debug .build
run debug "$program"
for variant in "$@"; do
  echo "== the crash catalogue, $variant"
  case $variant in
    debug) continue ;;
    release) build release .build -c release && run release "$program" ;;
    address) build address .build/address --sanitize=address && run address "$program" ;;
    thread) build thread .build/thread --sanitize=thread && run thread "$program" ;;
    stripped)
      build release .build -c release
      strip -o "$out/kvo" "$program"
      run stripped "$out/kvo"
      ;;
    backtrace)
      build debug .build
      "$program" crash --all --json --backtrace >"$out/backtrace.json" || true
      ;;
    *) complain "unknown variant \"$variant\"" && continue ;;
  esac
  left=
  case $variant in
    # Swift's backtrace tool cannot read the memory of a program with a sanitizer, and K97 tests only that tool.
    address | thread) left='"id":"K97"' ;;
    # With standard error closed, that tool occasionally ends the program with SIGPIPE.
    backtrace) left='"id":"K93"' ;;
  esac
  diff <(compared "$left" "$out/debug.json") <(compared "$left" "$out/$variant.json") >"$out/$variant.diff" || {
    head -40 "$out/$variant.diff"
    complain "$variant differs from debug: $out/$variant.diff"
  }
done
if grep '"passed":false' "$out/debug.json"; then complain "scenarios fail"; fi
((failures == 0))
