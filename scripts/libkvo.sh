#!/bin/sh
# Builds targets of libkvo, without Swift, in the folder of scripts/check-c.sh --quick, and prints the folder: scripts/libkvo.sh [TARGET…]
set -eu
cd "$(dirname "$0")/.."
scripts/require.sh cmake ninja-build gcc libffi-dev pkg-config
folder=build/c/gcc-O2
[ -f $folder/build.ninja ] || scripts/quietly.sh libkvo-configure cmake -S CShim -B $folder -G Ninja -DCMAKE_C_COMPILER=gcc \
  -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-O2 -g" -DKVO_WARNINGS_AS_ERRORS=ON -DKVO_ASSERTIONS=ON
scripts/quietly.sh libkvo cmake --build $folder --target "${@:-kvo}" >&2
echo $folder
