#!/usr/bin/env bash
# Checks that each promise in Documentation/Concurrency.md, Everyday.md and Bindings.md names a test that exists, in a comment below it,
# which readers of the page do not see.
set -euo pipefail
cd "$(dirname "$0")/.."

named=0 missing=0

complain() {
  echo "check-promises: $*" >&2
  missing=$((missing + 1))
}

# A test is TEST("sentence") in C, func `sentence` or @Test("sentence") in Swift, also with arguments, and in a client's program
# the message of a check.
has_test() {
  case $1 in
    *.c) grep -qF -e "TEST(\"$2\")" -e "TEST_REPORTED(\"$2\")" <<<"$(tr -s '\n ' ' ' <"$1" | sed 's/( /(/g')" ;;
    Tests/Clients/*.swift) grep -qF "\"$2\"" "$1" ;;
    *.swift) grep -qF -e "func \`$2\`(" -e "@Test(\"$2\")" -e "@Test(\"$2\", arguments:" "$1" ;;
    *) return 1 ;;
  esac
}

check() {
  local document=$1 promise='' held=true before=$named line
  while IFS= read -r line; do
    if [[ $line == '## Not promised' ]]; then break; fi
    if [[ $line =~ ^\ \ \<!--\ ([^ ]+):\ (.+)\ --\>$ ]]; then
      named=$((named + 1)) held=true
      has_test "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" || complain "${BASH_REMATCH[1]} has no test \"${BASH_REMATCH[2]}\""
    elif [[ $line == '- '* ]]; then
      $held || complain "$document names no test for: $promise"
      promise=$line held=false
    fi
  done <"$document"
  $held || complain "$document names no test for: $promise"
  ((named > before)) || complain "$document names no test"
}

check Documentation/Concurrency.md
check Documentation/Everyday.md
check Documentation/Bindings.md
((missing == 0)) || exit 1
echo "check-promises: the $named tests that Concurrency.md, Everyday.md and Bindings.md name exist"
