#!/usr/bin/env bash
# Prints the object files of the library in a folder of SwiftPM's build products, a line each: those whose sources exist. The build leaves
# those of files that were moved or removed.
#   scripts/objects.sh .build/debug
set -euo pipefail
cd "$(dirname "$0")/.."

while IFS= read -r object; do
  source=${object#"$1"/*.build/}
  source=${source%.o}
  case $object in
    */CKVO.build/*) [[ ! -e CShim/$source ]] || echo "$object" ;;
    *) [[ -z $(find Sources/KeyValueObserving -name "$source" -print -quit) ]] || echo "$object" ;;
  esac
done < <(find "$1/KeyValueObserving.build" "$1/CKVO.build" -name '*.o')
