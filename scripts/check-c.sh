#!/bin/sh
# Builds the C runtime without Swift and runs the suite in Tests/CAPI and the crash catalogue. All output is in build/c.
#   scripts/check-c.sh --quick        gcc -O2, headers as C and C++, exported symbols, the engine without diagnostics
#   scripts/check-c.sh --sanitizers   AddressSanitizer + UBSan, ThreadSanitizer
#   scripts/check-c.sh                all these, gcc and clang at -O0 and -O3, and valgrind
set -eu
cd "$(dirname "$0")/.."
case ${1:-} in
  --quick) parts=quick ;;
  --sanitizers) parts=sanitizers ;;
  *) parts="quick levels sanitizers valgrind" ;;
esac
out=build/c
jobs=$(nproc)
mkdir -p "$out"
# The tests inherit the environment; a policy set by the caller would change their results.
unset KVO_POLICY KVO_TEST_TOOL

fail() { echo "check-c: $*" >&2; exit 1; }

# --------------------------------------------------------------------------------------------------------------- Tools

[ "${parts##* }" != valgrind ] || scripts/require.sh valgrind
scripts/require.sh libffi-dev cmake ninja-build gcc g++ pkg-config python3

clang=$(scripts/clang.sh 2>/dev/null) || [ "$parts" = quick ] || fail "no clang: put it on PATH or name it in KVO_CLANG"

# --------------------------------------------------------------------------------------------------------------- Steps

passed=0
failed=0

# count <name> <log> <pattern>: adds up the lines "N passed, N failed" of a log that begin with the pattern, and prints the sum.
count() {
  sum=$(sed -nE "s/^$3([0-9]+) passed, ([0-9]+) failed.*/\1 \2/p" "$2" | awk '{ p += $1; f += $2 } END { print p + 0, f + 0 }')
  printf '%-28s %d passed, %d failed\n' "$1" $sum
  passed=$((passed + ${sum% *}))
  failed=$((failed + ${sum#* }))
  [ "${sum% *}" -gt 0 ] || fail "$1: nothing ran"
}

# crashes <name> <folder> [command]: runs the scenarios of the crash catalogue, and compares their whole reports with the saved ones. With a
# command, such as valgrind, only those that can in one process.
crashes() {
  name=$1 program=$out/$2/tests/kvo_crash log=$out/$2/crashes.log options="--reports Tests/Crash/reports.txt"
  shift 2
  [ $# -eq 0 ] || options=--record
  scripts/crashes.py $options "$@" "$program" >"$log" || cat "$log"
  count "$name" "$log" ""
}

# build <folder> <compiler> <flags> [cmake arguments]
build() {
  folder=$out/$1 compiler=$2 flags=$3
  shift 3
  cmake -S CShim -B "$folder" -G Ninja -DCMAKE_C_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$flags" \
    -DKVO_WARNINGS_AS_ERRORS=ON -DKVO_ASSERTIONS=ON "$@" >"$folder.log" 2>&1 || { cat "$folder.log"; fail "cannot configure $folder"; }
  cmake --build "$folder" >>"$folder.log" 2>&1 || { cat "$folder.log"; fail "cannot build $folder"; }
}

# suite <name> <folder> [ctest arguments]
suite() {
  name=$1 folder=$out/$2
  shift 2
  if ! ctest --test-dir "$folder" --output-on-failure -j "$jobs" "$@" >"$folder.ctest.log" 2>&1; then
    cat "$folder.ctest.log"
    failed=$((failed + 1))
  fi
  count "$name" "$folder/Testing/Temporary/LastTest.log" "test_[a-z_]*: "
}

headers() {
  warnings="-Wall -Wextra -Wpedantic -Werror -fsyntax-only -ICShim/include"
  for header in $(cd CShim/include && ls kvo/*.h); do
    for compiler in gcc $clang; do
      echo "#include <$header>" | "$compiler" -std=c11 $warnings -Wstrict-prototypes -x c -
    done
    for compiler in g++ $clang; do
      for standard in c++11 c++17; do echo "#include <$header>" | "$compiler" -std=$standard $warnings -x c++ -; done
    done
  done
  for standard in c++17 c++20; do
    for compiler in g++ $clang; do
      echo "#include <kvo/kvo.hpp>" | "$compiler" -std=$standard $warnings -Wshadow -Wconversion -Wold-style-cast -x c++ -
    done
  done
  echo "headers                      clean as C11, C++11 and C++17"
}

# The single-threaded programs. valgrind writes to files, because tests read the standard error of their children.
under_valgrind() {
  log=$out/valgrind.log
  rm -f "$out"/valgrind.*.txt "$log"
  for program in $(ctest --test-dir "$out/gcc-O0" -N -V -L single | sed -n 's/^[0-9]*: Test command: //p'); do
    if ! KVO_TEST_TOOL=valgrind valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=definite \
      --errors-for-leak-kinds=definite --log-file="$out/valgrind.%p.txt" "$program" >>"$log" 2>&1; then
      failed=$((failed + 1))
      echo "valgrind: $program failed"
      grep -B 3 -A 3 FAILED "$log" || true
      find "$out" -maxdepth 1 -name 'valgrind.*.txt' -size +0 -exec head -30 {} +
    fi
  done
  count valgrind "$log" "test_[a-z_]*: "
  rm -f "$out"/valgrind.*.txt
}

# ----------------------------------------------------------------------------------------------------------------- Run

run_quick() {
  headers
  build gcc-O2 gcc "-O2 -g" -DKVO_TEST_CXX_FLAGS=-O0 # optimised, these would take half of the time
  suite "gcc -O2" gcc-O2
  crashes "crash catalogue, gcc -O2" gcc-O2
  # The same programs with the library without diagnostics.
  build engine gcc "-O2 -g" -DKVO_DIAGNOSTICS=OFF -DKVO_BUILD_TESTS=OFF
  CShim/abi/check-symbols.sh "$out/engine/libkvo.so"
  LD_LIBRARY_PATH=$PWD/$out/engine suite "engine, no diagnostics" gcc-O2 -L "single|threads" -LE reported
}

run_levels() {
  for level in O0 O3; do
    build "gcc-$level" gcc "-$level -g"
    suite "gcc -$level" "gcc-$level"
    crashes "crash catalogue, gcc -$level" "gcc-$level"
    build "clang-$level" "$clang" "-$level -g"
    suite "clang -$level" "clang-$level"
  done
}

run_sanitizers() {
  # Not the "function" check: a setter takes the program's structure where KVO_SET has kvo_object, and a trampoline has no type.
  build asan "$clang" "-O1 -g -fsanitize=address,undefined -fno-sanitize=function -fno-sanitize-recover=undefined" \
    -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=bfd -DCMAKE_SHARED_LINKER_FLAGS=-fuse-ld=bfd
  KVO_TEST_TOOL=asan suite "AddressSanitizer + UBSan" asan
  KVO_CRASH_SECONDS=120 crashes "crash catalogue, ASan" asan
  # gcc's ThreadSanitizer: the one of the Swift toolchain needs libdispatch.
  build tsan gcc "-O1 -g -fsanitize=thread"
  KVO_TEST_TOOL=tsan TSAN_OPTIONS=halt_on_error=1 suite ThreadSanitizer tsan -L threads
  # One scenario calls in a signal handler what must not be called there.
  KVO_CRASH_SECONDS=120 TSAN_OPTIONS=report_signal_unsafe=0 crashes "crash catalogue, TSan" tsan
}

run_valgrind() {
  under_valgrind
  crashes "crash catalogue, valgrind" gcc-O0 valgrind -q --error-exitcode=99
}

for part in $parts; do "run_$part"; done
echo "check-c: $passed passed, $failed failed"
[ "$failed" = 0 ]
