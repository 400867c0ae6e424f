#!/usr/bin/env bash
# Repeatedly changes the runtime or the Swift layer at one random place, and checks whether a test detects the change.
#   scripts/mutate.sh                              50 mutants of the C runtime
#   scripts/mutate.sh --count 150 --seed 7         others; the same seed selects the same mutants while the sources are unchanged
#   scripts/mutate.sh --files record.c,ids.c:42 --kinds lock,order
#   scripts/mutate.sh --language swift --count 60
#   scripts/mutate.sh --budget 1800                starts no mutant after half an hour
# Prints the survivors as diffs, and the score. Mutants that no program can detect are listed, with the reason, in
# Tests/Mutation/equivalent.txt.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/require.sh swift libffi-dev cmake ninja-build gcc pkg-config python3
exec python3 scripts/mutation "$@"
