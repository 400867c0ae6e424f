#!/usr/bin/env bash
# Makes the reference of libkvo from the comments of its headers, with Doxygen: manual pages in build/manual/man, one for each header, which
# is also that of its functions and types; and HTML in build/manual/html. A symbol without a comment is an error.
#   scripts/manual.sh           makes both; 'cmake -DKVO_MANUAL=$PWD/build/manual/man/man3' installs the pages with the headers
#   scripts/manual.sh --check   also fails if an exported symbol has no page
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/require.sh doxygen python3
rm -rf build/manual
mkdir -p build/manual
doxygen scripts/manual/Doxyfile
# Not the pages of members, such as size(3), and of what the C++ headers define without the prefix.
find build/manual/man/man3 -type f ! -name 'kvo*' ! -name 'KVO*' -delete
gzip -9 -n build/manual/man/man3/*
[[ ${1:-} == --check ]] || exit 0
while read -r symbol; do
  [[ -e build/manual/man/man3/$symbol.3.gz ]] || { echo "$symbol is exported, and has no page" >&2; exit 1; }
done <CShim/abi/symbols.txt
