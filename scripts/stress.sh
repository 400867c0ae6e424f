#!/usr/bin/env bash
# Runs random operations of the C runtime on several threads (Tests/Stress). `stress` compares each round with the fuzzer's model; the
# other programs check bindings, and sets whose observers come and go.
#   scripts/stress.sh                      30 seconds, shared by ThreadSanitizer, AddressSanitizer and no sanitizer
#   scripts/stress.sh --minutes 10
#   scripts/stress.sh --seed N             repeats the operations of a seed; the scheduling of threads differs
#   scripts/stress.sh --seed N --round N   repeats one round of the seed
set -euo pipefail
cd "$(dirname "$0")/.."

out=build/c/stress seconds=30 seed=$((RANDOM * 32768 + RANDOM + 1)) options=()

fail() {
  echo "stress: $*" >&2
  exit 1
}

while (($#)); do
  [[ ${2:-} =~ ^[0-9]+$ ]] || fail "\"$1\" needs an integer, not \"${2:-}\""
  case $1 in
    --seconds) seconds=$2 ;;
    --minutes) seconds=$((60 * $2)) ;;
    --seed) seed=$2 ;;
    --round) options+=(--round "$2") ;;
    *) fail "unknown argument \"$1\". Options are --seconds, --minutes, --seed and --round" ;;
  esac
  shift 2
done
unset KVO_POLICY
scripts/require.sh libffi-dev cmake ninja-build gcc pkg-config

# For Swift closures, whose calling convention gcc does not know.
clang=$(scripts/clang.sh)
# ThreadSanitizer in the Swift toolchain needs libdispatch.
libraries=$(dirname "$clang")/../lib/swift/linux link=-fuse-ld=bfd
[[ ! -e $libraries/libdispatch.so ]] || link+=" -L$libraries -ldispatch -lBlocksRuntime -Wl,-rpath,$libraries"

# build <name> <compiler> <flags> <programs> [option of CMake]
build() {
  mkdir -p "$out"
  cmake -S Tests/Stress -B "$out/$1" -G Ninja -DCMAKE_C_COMPILER="$2" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$3" \
    -DKVO_WARNINGS_AS_ERRORS=ON -DKVO_ASSERTIONS=ON "${@:5}" >"$out/$1.txt" 2>&1 &&
    cmake --build "$out/$1" --target $4 >>"$out/$1.txt" 2>&1 || { cat "$out/$1.txt" >&2; fail "cannot build $out/$1"; }
}

# build_both <name> <flags> [flags of clang]
build_both() {
  build "$1" gcc "$2" "stress stress_bindings"
  build "$1-clang" "$clang" "$2${3:+ $3}" stress_sets "-DCMAKE_EXE_LINKER_FLAGS=$link"
}

# A round takes a few milliseconds with any of them; without a sanitizer other interleavings occur.
build_both tsan "-O1 -g -fsanitize=thread"
build_both asan "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined" -fno-sanitize=function
build_both plain "-O2 -g"
export TSAN_OPTIONS=halt_on_error=1${TSAN_OPTIONS:+:$TSAN_OPTIONS}
for tool in tsan asan plain; do
  echo "== stress, $tool"
  for program in "$tool/stress" "$tool/stress_bindings" "$tool-clang/stress_sets"; do
    "$out/$program" --seconds $(((seconds + 8) / 9)) --seed "$seed" ${options[@]+"${options[@]}"} ||
      fail "$out/$program failed; repeat it with --seed $seed and the round above"
  done
done
