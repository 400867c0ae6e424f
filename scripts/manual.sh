#!/usr/bin/env bash
# Makes the reference of libkvo from the comments of its headers: manual pages of its functions and types in build/manual/man,
# HTML in build/manual/html. 'cmake -DKVO_MANUAL=$PWD/build/manual/man/man3' installs the pages with the headers.
#   scripts/manual.sh           makes both
#   scripts/manual.sh --check   also fails if an exported function has no page, or a page does not keep to the rules of its language
# Without it fails only if Doxygen warns, or a comment does not say what a function returns.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/require.sh doxygen python3
rm -rf build/manual
mkdir -p build/manual
doxygen scripts/manual/Doxyfile
PYTHONDONTWRITEBYTECODE=1 python3 scripts/manual/pages.py build/manual/xml build/manual/man/man3
[[ ${1:-} == --check ]] || exit 0

scripts/require.sh mandoc groff
failed=0
while read -r function; do
  ! grep -q "^extern .*\b$function;" CShim/include/kvo/*.h || continue # a variable
  page=build/manual/man/man3/$function.3.gz
  if ! [[ -e $page ]] || ! zcat "$page" | sed -n '/^\.SH NAME/{n;p}' | grep -qw -- "$function"; then
    echo "$function is exported, and has no page"
    failed=1
  fi
done <CShim/abi/symbols.txt
for page in build/manual/man/man3/*.gz; do
  [[ ! -L $page ]] || continue
  said=$({ zcat "$page" | mandoc -Tlint -Wwarning && zcat "$page" | groff -man -ww -Tutf8 -z; } 2>&1) && [[ -z $said ]] || {
    echo "$page: $said"
    failed=1
  }
done
exit "$failed"
