#!/usr/bin/env bash
# Changes the runtime or the Swift layer at one place, at random, and looks whether a test notices; again and again.
#   scripts/mutate.sh                              50 mutants of the C runtime
#   scripts/mutate.sh --count 150 --seed 7         other ones; a seed draws the same as long as the sources stay
#   scripts/mutate.sh --files record.c,ids.c --kinds lock,order
#   scripts/mutate.sh --language swift --count 60
#   scripts/mutate.sh --budget 180 --least 80      no mutant is begun after 180 s; fails if less than 80 % die
# Prints the survivors as differences and the score by file and kind. Those that change nothing that a program can notice are listed,
# with the reason, in Tests/Mutation/equivalent.txt.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/require.sh swift libffi-dev cmake ninja-build gcc pkg-config python3
exec python3 scripts/mutation "$@"
