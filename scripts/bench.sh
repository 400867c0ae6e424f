#!/usr/bin/env bash
# Runs the optimised benchmarks and writes the tables Benchmarks/results.md and Benchmarks/results.json. A whole run also writes the tables
# in Documentation/Costs.md and the plot Documentation/costs.svg.
#   scripts/bench.sh [--filter REGEX]…   only rows whose whole name, "row: peer", matches; other arguments are passed to the tool
# They are a separate package, so that users of the library do not fetch and build its dependencies. The first build takes minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

rows=$(mktemp -d)
trap 'rm -rf "$rows"' EXIT
echo "Building and running the benchmarks; the first time takes some minutes …" >&2
peers=$PWD/build/peers
scripts/quietly.sh bench-peers cmake -S Benchmarks/Peers -B "$peers" -G Ninja -DCMAKE_C_COMPILER=gcc \
  -DCMAKE_CXX_COMPILER=g++ -DCMAKE_OBJC_COMPILER=gcc
scripts/quietly.sh bench-peers cmake --build "$peers"
# No cached manifest: SwiftPM looks for new files in the root package only, not in the package that it depends on.
scripts/quietly.sh bench-counts swift build --package-path Benchmarks -c release --disable-build-manifest-caching --product Counts
counts=$(swift build --package-path Benchmarks -c release --show-bin-path)/Counts
# With -c release the macro is built as it was for Counts; otherwise each of the two commands would compile everything that uses it again.
KVO_BENCH_RESULTS=$rows KVO_BENCH_PEERS=$peers KVO_BENCH_COUNTS=$counts scripts/quietly.sh bench \
  swift package -c release --package-path Benchmarks --allow-writing-to-package-directory benchmark --no-progress "$@"
if [[ ! -s $rows/rows.md ]]; then
  echo "No row was measured. A filter is a regular expression that matches a whole name, such as --filter 'observed set.*'." >&2
  echo "Names: swift package --package-path Benchmarks benchmark list" >&2
  exit 1
fi

{
  echo "| what | who | against | ours | its | ratio | bar | held | runs |"
  echo "| --- | --- | --- | ---: | ---: | ---: | ---: | --- | ---: |"
  sort -n "$rows/rows.md" | cut -f 2-
} >Benchmarks/results.md
{ echo "["; sort -n "$rows/rows.json" | cut -f 2- | sed '$!s/$/,/'; echo "]"; } >Benchmarks/results.json
cat Benchmarks/results.md
echo
echo "Each run measures both, one after the other; times are medians, a ratio is the median of the runs' ratios."

(($# == 0)) || exit 0
. /etc/os-release
swift=$(swift --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9.]+).*/Swift \1/p' | head -n 1)
processor=$(sed -nE 's/^model name\s*: //p' /proc/cpuinfo | head -n 1)
python3 scripts/costs-document.py Benchmarks/results.json Documentation/Costs.md \
  "$swift on $PRETTY_NAME, $(uname -m), $(nproc) processors${processor:+ ($processor)}"
echo "Documentation/Costs.md and Documentation/costs.svg are rewritten."
