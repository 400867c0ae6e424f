#!/bin/sh
# symbols.sh LIBRARY: it exports what symbols.txt lists; programs that are linked with it need all of these.
set -eu
nm -D --defined-only --extern-only --format=posix "$1" | awk '$1 !~ /^_/ { print $1 }' | LC_ALL=C sort |
  diff "$(dirname "$0")/symbols.txt" -
