#!/usr/bin/env bash
# Fails if a C source is not formatted as clang-format would, or has a comment of more than 140 columns. Versions of clang-format differ, so
# only that of Debian 12 is used; with another version the script prints a message and checks nothing.
#   scripts/check-c-format.sh FILE…
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(clang-format --version | grep -oE '[0-9]+' | head -1)
if [[ $version != 14 ]]; then
  echo "check-c-format: not checked; it needs clang-format 14, and this is $version"
  exit 0
fi
clang-format --dry-run -Werror "$@"
# clang-format does not break comments.
if ! awk 'length > 140 && /^ *(\/\*|\*|\/\/)/ { print FILENAME ":" FNR ": " $0; wide = 1 } END { exit wide }' "$@"; then
  echo "check-c-format: these comments are wider than 140 columns" >&2
  exit 1
fi
echo "check-c-format: $# files are formatted"
