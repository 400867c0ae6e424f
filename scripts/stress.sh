#!/usr/bin/env bash
# Runs random operations of the C runtime on several threads, and compares the result of each round with the fuzzer's model (Tests/Stress).
#   scripts/stress.sh                      30 seconds, shared by ThreadSanitizer, AddressSanitizer and no sanitizer
#   scripts/stress.sh --minutes 10
#   scripts/stress.sh --seed N             repeats the operations of a seed; the scheduling of threads differs
#   scripts/stress.sh --seed N --round N   repeats one round of the seed
#   scripts/stress.sh --runtime FOLDER     tests another runtime than CShim, for example a mutant
set -euo pipefail
cd "$(dirname "$0")/.."

out=build/c/stress seconds=30 seed=$((RANDOM * 32768 + RANDOM + 1)) runtime=CShim options=()

fail() {
  echo "stress: $*" >&2
  exit 1
}

while (($#)); do
  [[ $1 == --runtime || ${2:-} =~ ^[0-9]+$ ]] || fail "\"$1\" needs an integer, not \"${2:-}\""
  case $1 in
    --seconds) seconds=$2 ;;
    --minutes) seconds=$((60 * $2)) ;;
    --seed) seed=$2 ;;
    --round) options+=(--round "$2") ;;
    --runtime) runtime=$2 out=build/c/stress/other ;;
    *) fail "unknown argument \"$1\". Options are --seconds, --minutes, --seed, --round and --runtime" ;;
  esac
  shift 2
done
unset KVO_POLICY
scripts/require.sh libffi-dev cmake ninja-build gcc pkg-config

# build <name> <flags>
build() {
  mkdir -p "$out"
  cmake -S Tests/Stress -B "$out/$1" -G Ninja -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$2" \
    -DKVO_RUNTIME="$(realpath "$runtime")" -DKVO_WARNINGS_AS_ERRORS=ON -DKVO_ASSERTIONS=ON >"$out/$1.txt" 2>&1 &&
    cmake --build "$out/$1" >>"$out/$1.txt" 2>&1 || { cat "$out/$1.txt" >&2; fail "cannot build $out/$1"; }
}

# A round takes a few milliseconds with any of them; without a sanitizer other interleavings occur.
build tsan "-O1 -g -fsanitize=thread"
build asan "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined"
build plain "-O2 -g"
export TSAN_OPTIONS=halt_on_error=1${TSAN_OPTIONS:+:$TSAN_OPTIONS}
for tool in tsan asan plain; do
  echo "== stress, $tool"
  for program in stress stress_bindings; do
    "$out/$tool/$program" --seconds $(((seconds + 5) / 6)) --seed "$seed" ${options[@]+"${options[@]}"} ||
      fail "$program failed under $tool; repeat it with --seed $seed and the round above"
  done
done
