#!/usr/bin/env bash
# Runs a command with its output in a file, and prints the file only if the command fails: scripts/quietly.sh NAME COMMAND…
set -euo pipefail
cd "$(dirname "$0")/.."
log=build/log/$1.txt
shift
mkdir -p "$(dirname "$log")"
status=0
"$@" </dev/null >"$log" 2>&1 || status=$?
if ((status != 0)); then
  cat "$log" >&2
  echo "failed with status $status: $*" >&2
fi
exit "$status"
