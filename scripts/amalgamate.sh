#!/usr/bin/env bash
# Writes libkvo as two files: kvo.h, all public headers; and kvo.c, all sources. A program compiles kvo.c with its own sources and links
# libffi and threads; -DKVO_DIAGNOSTICS=0 makes the small profile. The folder "include" has headers by their usual names, and kvo.hpp.
#   scripts/amalgamate.sh FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/require.sh python3 gcc libffi-dev
mkdir -p "$1"
python3 scripts/amalgamate.py CShim "$1"
cp CShim/include/kvo/kvo.hpp "$1/include/kvo"
rm -rf "$1/include/kvo/cxx"
cp -r CShim/include/kvo/cxx "$1/include/kvo"
