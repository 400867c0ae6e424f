#!/usr/bin/env bash
# Prints the size of libkvo.so, stripped: of the usual build, of the smallest, and of the smallest without diagnostics (the small profile).
#   scripts/sizes.sh --check   fails if the smallest ones are larger than the limits below; Documentation/Embedding.md has the sizes
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/require.sh libffi-dev cmake ninja-build gcc pkg-config
out=build/sizes
full=364000 small=216000

# size NAME [CMAKE ARGUMENT…]
size() {
  local folder=$out/$1
  shift
  {
    cmake -S CShim -B "$folder" -G Ninja -DCMAKE_C_COMPILER=gcc -DKVO_BUILD_TESTS=OFF "$@" && cmake --build "$folder" --target kvo
  } >"$folder.log" 2>&1 || { cat "$folder.log" >&2; exit 1; }
  strip -o "$folder/stripped" "$folder/libkvo.so"
  stat -c %s "$folder/stripped"
}

mkdir -p "$out"
least=(-DCMAKE_BUILD_TYPE=MinSizeRel)
usual=$(size usual)
with=$(size full "${least[@]}")
without=$(size small "${least[@]}" -DKVO_DIAGNOSTICS=OFF -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON)
printf '%-58s %7d bytes\n' "the usual build" "$usual" "-DCMAKE_BUILD_TYPE=MinSizeRel" "$with" \
  "the same with -DKVO_DIAGNOSTICS=OFF, optimised when linked" "$without"
if [[ ${1:-} == --check ]] && ((with > full || without > small)); then
  echo "sizes: more than $full bytes, or more than $small without diagnostics" >&2
  exit 1
fi
