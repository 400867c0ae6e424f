#!/usr/bin/env bash
# Counts the instructions of each row of Tests/Scaling at n and at 4n, and fails where they grow faster than n log n.
#   scripts/check-scaling.sh [--quick] [PROGRAM…]   --quick: a smaller n; a PROGRAM answers --list, runs ROW N, and switches callgrind's
#                                                    collection on and off; by default kvo_scaling, and unless --quick the
#                                                    Swift layer's, which is in the package of the benchmarks
# A row whose name ends in /D is run at n/D and 4n/D.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/require.sh valgrind

n=1000 quick=false
if [[ ${1:-} == --quick ]]; then
  n=250 quick=true
  shift
fi
# n log n allows 4 log(4n) / log(n), which is 5 at 250 and less above; a square is 16.
limit=7
out=build/scaling
mkdir -p "$out"
if (($# == 0)); then
  set -- "$(scripts/libkvo.sh kvo_scaling)/tests/kvo_scaling"
  if ! $quick; then
    scripts/quietly.sh check-scaling swift build --package-path Benchmarks -c release --disable-build-manifest-caching --product Counts
    # Valgrind cannot read the debug information that Swift writes.
    strip --strip-debug -o "$out/Counts" "$(swift build --package-path Benchmarks -c release --show-bin-path)/Counts"
    set -- "$@" "$out/Counts"
  fi
fi

unset KVO_POLICY
export LD_BIND_NOW=1 SWIFT_DETERMINISTIC_HASHING=1
# instructions PROGRAM ROW N
instructions() {
  if ! timeout 300 valgrind --tool=callgrind --instr-atstart=no --collect-atstart=no --callgrind-out-file=/dev/null "$1" "$2" "$3" \
    >"$out/row.log" 2>&1; then
    cat "$out/row.log" >&2
    return 1
  fi
  awk '/Collected *: / { print $NF }' "$out/row.log"
}

rows=0 failed=0
for program in "$@"; do
  while IFS= read -r row <&3; do
    rows=$((rows + 1)) small=$n
    if [[ $row =~ /([0-9]+)$ ]]; then small=$((n / BASH_REMATCH[1])); fi
    if ! few=$(instructions "$program" "$row" "$small") || ! many=$(instructions "$program" "$row" $((4 * small))); then
      echo "check-scaling: \"$row\" could not be counted" >&2
      failed=$((failed + 1))
      continue
    fi
    awk -v row="$row" -v few="$few" -v many="$many" -v small="$small" -v limit="$limit" 'BEGIN {
      grown = few > 0 ? many / few : 1e9
      printf "%-75s %6d: %12d   %6d: %12d   %6.2f%s\n", row, small, few, 4 * small, many, grown, (grown > limit ? "  TOO MUCH" : "")
      exit (grown > limit) }' || failed=$((failed + 1))
  done 3< <("$program" --list)
done
((rows > 0)) || { echo "check-scaling: no row" >&2; exit 1; }
echo "check-scaling: $rows rows, $failed grow faster than n log n"
((failed == 0))
