#!/usr/bin/env bash
# Counts the instructions and allocations of each row of the benchmarks, and compares them with Benchmarks/costs.txt.
# To accept changes in either direction: scripts/check-costs.sh --bless
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/require.sh swift git libffi-dev gcc valgrind python3

scripts/quietly.sh check-costs swift build --package-path Benchmarks -c release --disable-build-manifest-caching --product Counts
out=build/costs
rm -rf "$out"
mkdir -p "$out"
# Valgrind cannot read Swift's debug information.
strip --strip-debug -o "$out/Counts" "$(swift build --package-path Benchmarks -c release --show-bin-path)/Counts"

# Removes sources of variation between runs: seeds of hash tables, and lazy symbol binding.
unset KVO_POLICY
export SWIFT_DETERMINISTIC_HASHING=1 LD_BIND_NOW=1
valgrind --quiet --tool=callgrind --instr-atstart=no --callgrind-out-file="$out/callgrind" "$out/Counts" costs \
  >"$out/allocations.txt"
. /etc/os-release
place="$(swift --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9.]+).*/Swift \1/p' | head -n 1), $(uname -m), $PRETTY_NAME"
exec python3 scripts/costs.py "$out" Benchmarks/costs.txt "$place" "$@"
