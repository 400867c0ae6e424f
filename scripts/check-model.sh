#!/usr/bin/env bash
# Checks Tests/Model/readers.pml, the model of how changes protect the nodes that they read, with spin: in all orders of steps nothing is
# read after it was freed, and nothing is left over. Then leaves out one step after the other; each time the model must find an error.
#   scripts/check-model.sh
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/require.sh spin gcc
out=build/model
mkdir -p "$out"

# verify <name> [macro]: prints what the verifier says of the model. -w: spin generates the C code.
verify() {
  local folder=$out/$1
  mkdir -p "$folder"
  (cd "$folder" && spin ${2:+-D"$2"} -a ../../../Tests/Model/readers.pml >/dev/null &&
    gcc -w -O2 -DSAFETY -DCOLLAPSE -DVECTORSZ=2048 -o verifier pan.c && ./verifier -m200000 2>&1)
}

report=$(verify whole)
grep -E "^State-vector|states, stored|errors:" <<<"$report"
grep -q "errors: 0" <<<"$report" || { echo "check-model: the model has an error: cd $out/whole && ./verifier -r" >&2; exit 1; }
! grep -qE "max search depth too small|out of memory" <<<"$report" || { echo "check-model: not all states were searched" >&2; exit 1; }

for step in NO_BARRIER NO_SECOND_LOOK COUNTED_LATE NO_WAITERS NO_ENTERED; do
  report=$(verify "$step" "$step")
  if grep -qE "errors: [1-9]" <<<"$report"; then
    echo "check-model: $step: found: $(grep -m 1 "^pan:" <<<"$report")"
  else
    echo "check-model: $step: the model finds no error without this step" >&2
    exit 1
  fi
done
