#!/bin/sh
# Checks that each room of CShim/src uses only the rooms above it in CShim/src/README.md, by includes and by the symbols of objects.
#   scripts/check-rooms.sh [BUILD]   a CMake build folder; default: that of scripts/check-c.sh --quick, which is built if necessary
set -eu
cd "$(dirname "$0")/.."
out=${1:-build/c/gcc-O2}
scripts/require.sh python3 cmake ninja-build gcc libffi-dev pkg-config
[ -f "$out/build.ninja" ] || cmake -S CShim -B "$out" -G Ninja -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-O2 -g" >/dev/null
cmake --build "$out" --target kvo_objects >/dev/null
python3 scripts/check-rooms.py "$out/CMakeFiles/kvo_objects.dir/src"
