#!/usr/bin/env bash
# Prints the object files of the library in a folder of SwiftPM's build products, one per line. Objects whose source was moved or
# removed, which the build does not delete, are skipped.
#   scripts/objects.sh .build/debug
set -euo pipefail
cd "$(dirname "$0")/.."

while IFS= read -r object; do
  source=${object#"$1"/*.build/}
  source=${source%.o}
  case $object in
    */CKVO.build/*) [[ ! -e CShim/$source ]] || echo "$object" ;;
    */CSwiftRuntime.build/*) [[ ! -e Sources/CSwiftRuntime/$source ]] || echo "$object" ;;
    *) [[ -z $(find Sources/KeyValueObserving -name "$source" -print -quit) ]] || echo "$object" ;;
  esac
done < <(find "$1/KeyValueObserving.build" "$1/CKVO.build" "$1/CSwiftRuntime.build" -name '*.o')
