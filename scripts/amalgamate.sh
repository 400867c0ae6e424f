#!/usr/bin/env bash
# Writes libkvo as two files: kvo.h, all public headers; and kvo.c, all sources. A program compiles kvo.c with its own sources and links
# libffi and threads; -DKVO_DIAGNOSTICS=0 makes the small profile. In the folder "include" are headers by their usual names.
#   scripts/amalgamate.sh FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/require.sh python3 gcc libffi-dev
mkdir -p "$1"
python3 scripts/amalgamate.py CShim "$1"
