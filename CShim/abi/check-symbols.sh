#!/bin/sh
# Compares what a libkvo.so exports with abi/symbols.txt; prints the difference and fails if there is one.
# To accept a change on purpose: CShim/abi/check-symbols.sh <libkvo.so> --update
set -eu
library=$1
baseline=$(dirname "$0")/symbols.txt
# Linkers and sanitizers add symbols of their own, which begin with "_"; thread-local ones may be listed without being exported.
exported=$(nm -D --defined-only --extern-only --format=posix "$library" | awk '$1 !~ /^_/ && $2 != "A" { sub(/@.*/, "", $1); print $1 }' | LC_ALL=C sort)
if [ "${2:-}" = --update ]; then
  printf '%s\n' "$exported" >"$baseline"
  exit 0
fi
if ! printf '%s\n' "$exported" | diff -u "$baseline" -; then
  echo "the exported symbols differ from $baseline" >&2
  exit 1
fi
if printf '%s\n' "$exported" | grep -v '^kvo_'; then
  echo "only kvo_ symbols may be exported" >&2
  exit 1
fi
