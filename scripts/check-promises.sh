#!/usr/bin/env bash
# Checks that each test that Documentation/Concurrency.md names exists, and that each promise there names a test.
set -euo pipefail
cd "$(dirname "$0")/.."

document=Documentation/Concurrency.md named=0 missing=0

complain() {
  echo "check-promises: $*" >&2
  missing=$((missing + 1))
}

# A test is TEST("sentence") in C and func `sentence` in Swift.
has_test() {
  case $1 in
    *.c) grep -qF -e "TEST(\"$2\")" -e "TEST_REPORTED(\"$2\")" <<<"$(tr -s '\n ' ' ' <"$1" | sed 's/( /(/g')" ;;
    *.swift) grep -qF "func \`$2\`(" "$1" ;;
    *) return 1 ;;
  esac
}

promise='' held=true
while IFS= read -r line; do
  if [[ $line == '## Not promised' ]]; then break; fi
  if [[ $line =~ ^\ \ -\ \`([^\`]+)\`:\ (.+)$ ]]; then
    named=$((named + 1)) held=true
    has_test "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" || complain "${BASH_REMATCH[1]} has no test \"${BASH_REMATCH[2]}\""
  elif [[ $line == '- '* ]]; then
    $held || complain "no test is named for: $promise"
    promise=$line held=false
  fi
done <"$document"
$held || complain "no test is named for: $promise"

((named > 0)) || complain "$document names no test"
((missing == 0)) || exit 1
echo "check-promises: the $named tests that $document names exist"
