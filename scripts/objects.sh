#!/usr/bin/env bash
# Prints the object files of the library in a folder of SwiftPM's build products, one per line. Objects whose source was moved or
# removed, which the build does not delete, are skipped.
#   scripts/objects.sh .build/debug             those of KeyValueObserving
#   scripts/objects.sh .build/debug --testing   also those of KeyValueObservingTesting
set -euo pipefail
cd "$(dirname "$0")/.."

folders=("$1/KeyValueObserving.build" "$1/CKVO.build" "$1/CSwiftRuntime.build")
[[ ${2:-} != --testing ]] || folders+=("$1/KeyValueObservingTesting.build")
while IFS= read -r object; do
  source=${object#"$1"/*.build/}
  source=${source%.o}
  case $object in
    */CKVO.build/*) [[ ! -e CShim/$source ]] || echo "$object" ;;
    */CSwiftRuntime.build/*) [[ ! -e Sources/CSwiftRuntime/$source ]] || echo "$object" ;;
    */KeyValueObservingTesting.build/*) [[ ! -e Sources/KeyValueObservingTesting/$source ]] || echo "$object" ;;
    *) [[ -z $(find Sources/KeyValueObserving -name "$source" -print -quit) ]] || echo "$object" ;;
  esac
done < <(find "${folders[@]}" -name '*.o')
