#!/usr/bin/env bash
# Runs the benchmarks, optimised, and makes their table: Benchmarks/results.md and Benchmarks/results.json.
# They are a package of their own, so that what they need is fetched and built by nobody else. The first build takes minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

rows=$(mktemp -d)
trap 'rm -rf "$rows"' EXIT
echo "Building and running the benchmarks; the first time takes some minutes …" >&2
KVO_BENCH_RESULTS=$rows scripts/quietly.sh bench \
  swift package --package-path Benchmarks --allow-writing-to-package-directory benchmark --no-progress "$@"
[[ -s $rows/rows.md ]] || { echo "The benchmarks wrote no row." >&2; exit 1; }

{
  echo "| what | against | ns | its ns | ratio | bar | turns |"
  echo "| --- | --- | ---: | ---: | ---: | ---: | ---: |"
  cat "$rows/rows.md"
} >Benchmarks/results.md
{ echo "["; sed '$!s/$/,/' "$rows/rows.json"; echo "]"; } >Benchmarks/results.json
cat Benchmarks/results.md
echo
echo "Each turn measures both, one after the other; ns are medians, a ratio is the median of the turns' ratios."
