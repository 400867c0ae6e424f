#!/bin/sh
# Prints which clang to use: that of KVO_CLANG, otherwise that of the Swift toolchain, otherwise any.
clang=${KVO_CLANG:-}
[ -n "$clang" ] || ! swift=$(command -v swift) || clang=$(dirname "$(readlink -f "$swift")")/clang
[ -x "$clang" ] || clang=$(command -v clang) || { echo "no clang: put it on PATH or name it in KVO_CLANG" >&2; exit 1; }
echo "$clang"
