#!/usr/bin/env bash
# Fuzzes the C runtime with libFuzzer under ASan and UBSan, and runs the inputs saved in Tests/Fuzzing.
#   scripts/fuzz.sh                    60 seconds over all targets
#   scripts/fuzz.sh --seconds 0        the saved inputs only
#   scripts/fuzz.sh --minutes 30 fuzz_sequences
#   scripts/fuzz.sh --keep             adds new inputs to the corpus and minimises it
# The corpus of a target is Tests/Fuzzing/corpus/NAME.txt, a line in base64 for each input; build/c/fuzz/kept has them as files.
# One process per core; with KVO_FUZZ_JOBS=1 it is one process, and --seed N repeats a run. Without --keep, new inputs are in
# build/c/fuzz/found. Crashes are in build/c/fuzz/crashes, and the inputs of fixed bugs in Tests/Fuzzing/regressions.
# Unless KVO_FUZZ_ALL=1, programs lack what Tests/Fuzzing/differences.md lists, except where it says otherwise.
set -euo pipefail
cd "$(dirname "$0")/.."

out=build/c/fuzz
all=(fuzz_sequences fuzz_parsers fuzz_coding fuzz_methods)
seconds=60 keep=false seed=$((RANDOM * 32768 + RANDOM + 1)) targets=()

fail() {
  echo "fuzz: $*" >&2
  exit 1
}

number() { [[ ${2:-} =~ ^[0-9]{1,7}$ ]] || fail "$1 needs an integer, not \"${2:-}\""; }

while (($#)); do
  case $1 in
    --seconds) number "$1" "${2:-}" && seconds=$2 && shift ;;
    --minutes) number "$1" "${2:-}" && seconds=$((60 * $2)) && shift ;;
    --seed) number "$1" "${2:-}" && seed=$2 && shift ;;
    --keep) keep=true ;;
    fuzz_sequences | fuzz_parsers | fuzz_coding | fuzz_methods) targets+=("$1") ;;
    *) fail "unknown argument \"$1\". Targets are ${all[*]}; options --seconds, --minutes, --seed, --keep" ;;
  esac
  shift
done
((${#targets[@]})) || targets=("${all[@]}")
unset KVO_POLICY

# -------------------------------------------------------------------------------------------------------------- Building

sanitizers="-fsanitize=address,undefined -fno-sanitize=function -fno-sanitize-recover=undefined"

# Returns whether this clang can link libFuzzer and the sanitizers: not every clang has their runtime libraries.
can_fuzz() {
  [[ -n $1 ]] && echo 'int LLVMFuzzerTestOneInput(const char *b, unsigned long n); int LLVMFuzzerTestOneInput(const char *b, unsigned long n) { return b && n ? 0 : 0; }' |
    "$1" -x c - -fsanitize=fuzzer $sanitizers -fuse-ld=bfd -o "$out/can_fuzz" >"$out/can_fuzz.txt" 2>&1
}

find_clang() {
  for clang in "$(scripts/clang.sh 2>/dev/null)" "$(command -v clang || true)"; do
    ! can_fuzz "$clang" || return 0
  done
  scripts/require.sh clang libclang-rt-dev
  clang=$(command -v clang)
  can_fuzz "$clang" || fail "no clang can link libFuzzer; name one in KVO_CLANG. $clang says: $(cat "$out/can_fuzz.txt")"
}

build() {
  cmake -S Tests/Fuzzing -B "$out" -G Ninja -DCMAKE_C_COMPILER="$clang" -DCMAKE_BUILD_TYPE=None \
    -DCMAKE_C_FLAGS="-O1 -g $sanitizers" -DKVO_WARNINGS_AS_ERRORS=ON -DKVO_ASSERTIONS=ON \
    -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=bfd -DCMAKE_SHARED_LINKER_FLAGS=-fuse-ld=bfd && cmake --build "$out"
}

# --------------------------------------------------------------------------------------------------------------- Running

# Prints the crashing input, the commands to examine it, and the output of the program.
report() {
  local target=$1 log=$2 input
  input=$(sed -n 's/.*Test unit written to \(.*\)$/\1/p' "$log" | tail -1)
  grep -vE '^#[0-9]+|^INFO|^Running:' "$log" | tail -100 >&2
  echo >&2
  [[ -n $input ]] || fail "$target failed, and left no input; see $log"
  local depth=${KVO_FUZZ_DEPTH:+KVO_FUZZ_DEPTH=$KVO_FUZZ_DEPTH }
  echo "fuzz: $target failed with $input" >&2
  echo "  replay:   ${depth}KVO_FUZZ_PRINT=1 $out/$target $input" >&2
  echo "  minimise: $depth$out/$target -minimize_crash=1 -exact_artifact_path=$input.min -max_total_time=60 $input" >&2
  echo "  keep, once it is fixed: mv $input Tests/Fuzzing/regressions/${target#fuzz_}/" >&2
  exit 1
}

# unpack <file> <folder>, and pack <folder> <file>
unpack() {
  local number=0 line
  rm -rf "$2" && mkdir -p "$2"
  while IFS= read -r line; do
    number=$((number + 1))
    base64 -d <<<"$line" >"$2/$number"
  done <"$1"
}
pack() { for input in "$1"/*; do base64 -w 0 "$input" && echo; done | LC_ALL=C sort >"$2"; }

# fuzz <target> <seconds>
fuzz() {
  local target=$1 time=$2 name=${1#fuzz_} jobs=${KVO_FUZZ_JOBS:-$(nproc)} log=$out/$1.txt
  local kept=$out/kept/$name found=$out/found/$name old=("$out/kept/$name")
  unpack "Tests/Fuzzing/corpus/$name.txt" "$kept"
  # There is no folder for a target without fixed bugs.
  [[ ! -d Tests/Fuzzing/regressions/$name ]] || old+=(Tests/Fuzzing/regressions/"$name")
  local options=(-seed="$seed" -max_len=400 -timeout=60 -artifact_prefix="$out/crashes/$name-" -print_final_stats=1)
  mkdir -p "$found" "$out/crashes"
  KVO_FUZZ_ALL=1 "$out/$target" "${options[@]}" -runs=0 "${old[@]}" >"$log" 2>&1 || report "$target" "$log"
  echo "$target: $(find "${old[@]}" -type f | wc -l) kept inputs pass${KVO_FUZZ_DEPTH:+, also with deferred deliveries}"
  ((time > 0)) || return 0
  ((jobs == 1)) || options+=(-fork="$jobs" -ignore_timeouts=0 -ignore_ooms=0)
  "$out/$target" "${options[@]}" -max_total_time="$time" "$found" "$kept" >"$log" 2>&1 || report "$target" "$log"
  echo "$target: $time s with $jobs jobs and seed $seed: $(runs "$log") runs, $(ls "$found" | wc -l) inputs in $found"
  if $keep; then minimise "$target" "$kept" "$found" "Tests/Fuzzing/corpus/$name.txt"; fi
}

# Prints the number of runs, from the last line of the log that contains it.
runs() { sed -nE 's/^#([0-9]+).*/\1/p' "$1" | sort -n | tail -1; }

minimise() {
  local target=$1 kept=$2 found=$3 packed=$4
  rm -rf "$out/merged" && mkdir "$out/merged"
  "$out/$target" -merge=1 -set_cover_merge=1 -max_len=400 "$out/merged" "$kept" "$found" >"$out/merge.txt" 2>&1 ||
    fail "the corpus cannot be merged; see $out/merge.txt"
  pack "$out/merged" "$packed"
  rm -rf "$found"
  echo "$target: $packed has $(wc -l <"$packed") inputs now"
}

scripts/require.sh libffi-dev cmake ninja-build pkg-config
mkdir -p "$out"
find_clang
build >"$out/build.txt" 2>&1 || { cat "$out/build.txt" >&2; fail "the targets cannot be built with $clang"; }
echo "fuzz: seed $seed, $clang"
for target in "${targets[@]}"; do
  share=$seconds deferred=0
  # fuzz_sequences needs most of the time; the string targets are soon exhausted.
  if ((${#targets[@]} > 1)); then
    [[ $target == fuzz_sequences ]] && share=$((seconds / 2)) || share=$((seconds / 6))
  fi
  [[ $target != fuzz_sequences ]] || deferred=$((share / 5))
  fuzz "$target" $((share - deferred))
  # And programs whose deliveries are deferred below a depth of four: of them less is known (Tests/Fuzzing/settled.h).
  [[ $target != fuzz_sequences ]] || KVO_FUZZ_DEPTH=4 keep=false fuzz "$target" "$deferred"
done
