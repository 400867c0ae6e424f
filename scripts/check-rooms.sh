#!/bin/sh
# Checks that each room of CShim/src uses only the rooms above it in CShim/src/README.md, by includes and by the symbols of objects.
set -eu
cd "$(dirname "$0")/.."
scripts/require.sh python3
python3 scripts/check-rooms.py "$(scripts/libkvo.sh kvo_objects)/CMakeFiles/kvo_objects.dir/src"
