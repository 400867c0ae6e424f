#!/usr/bin/env bash
# Checks that Documentation/AppleCompatibility.md has each entry once, with a verdict, and that the tests it names exist.
set -euo pipefail
cd "$(dirname "$0")/.."

document=Documentation/AppleCompatibility.md entries=393 faults=0

complain() {
  echo "check-compatibility: $*" >&2
  faults=$((faults + 1))
}

# A test is func `sentence` in Swift and TEST("sentence") in C.
declare -A tests=()
while IFS= read -r sentence; do tests[$sentence]=1; done < <(
  grep -rhoE --include='*.swift' 'func `[^`]+`' Tests Tools/Tests | sed -e 's/^func `//' -e 's/`$//'
  find Tests Tools/Tests -name '*.c' -exec cat {} + | tr -s '\n ' ' ' | sed 's/( /(/g' |
    grep -oE 'TEST(_REPORTED)?\("[^"]+"\)' | sed -E -e 's/^TEST(_REPORTED)?\("//' -e 's/"\)$//'
)

# "SectionA.swift 7": the name of a test in Tests/ConformanceTests/SectionA.swift begins with numbers that include 7.
declare -A numbered=()
while IFS=: read -r path numbers; do
  for number in ${numbers//,/ }; do numbered["${path##*/} $number"]=1; done
done < <(grep -roE 'func `[0-9]+(, [0-9]+)*:' Tests/ConformanceTests | sed -e 's/func `//' -e 's/:$//')

# "J-keypath.scenario 132": a comment of that scenario has the number.
while IFS=: read -r path numbers; do
  for number in ${numbers//,/ }; do numbered["${path##*/} $number"]=1; done
done < <(grep -roE '^# [0-9]+(, [0-9]+)*:' --include='*.scenario' Tools/Tests/ScenarioTests/Scenarios | sed -e 's/# //' -e 's/:$//')

check_test() {
  local number=$1 name=$2
  case $name in
    Section*.swift | *.scenario) [[ -n ${numbered["$name $number"]:-} ]] || complain "entry $number: $name has nothing of that number" ;;
    Tests/* | Tools/*) [[ -s $name ]] || complain "entry $number: there is no $name" ;;
    *) [[ -n ${tests[$name]:-} ]] || complain "entry $number: there is no test \"$name\"" ;;
  esac
}

row='^\| ([0-9]+) \| ([^|]+) \| (same|differs on purpose: [^|]+|no counterpart: [^|]+|GNUstep only) \| ([^|]*) ?\|$'
declare -A seen=() verdicts=()
named=0
while IFS= read -r line; do
  [[ $line =~ ^\|\ [0-9] ]] || continue
  if [[ ! $line =~ $row ]]; then
    complain "this is no row: $line"
    continue
  fi
  number=${BASH_REMATCH[1]} verdict=${BASH_REMATCH[3]%%:*} named_tests=${BASH_REMATCH[4]}
  [[ -z ${seen[$number]:-} ]] || complain "entry $number is there twice"
  seen[$number]=1
  verdicts[$verdict]=$((${verdicts[$verdict]:-0} + 1))
  count=0
  while [[ $named_tests =~ ^[^\`]*\`([^\`]+)\`(.*)$ ]]; do
    named_tests=${BASH_REMATCH[2]} count=$((count + 1)) named=$((named + 1))
    check_test "$number" "${BASH_REMATCH[1]}"
  done
  if ((count == 0)) && [[ $verdict == same || $verdict == differs* ]]; then complain "entry $number names no test"; fi
done <"$document"

for ((number = 1; number <= entries; number++)); do
  [[ -n ${seen[$number]:-} ]] || complain "entry $number is missing"
done
((${#seen[@]} <= entries)) || complain "there are ${#seen[@]} entries, not $entries"

((faults == 0)) || exit 1
summary=''
for verdict in same 'differs on purpose' 'no counterpart' 'GNUstep only'; do
  summary+=", ${verdicts[$verdict]:-0} $verdict"
done
echo "check-compatibility: all $entries entries${summary}; the $named tests that they name exist"
