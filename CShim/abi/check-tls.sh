#!/bin/sh
# Fails if a library needs more than 64 bytes of thread-local storage: the C library reserves little for libraries that are loaded later.
#   check-tls.sh <library>
set -eu
size=$(readelf -lW "$1" | awk '$1 == "TLS" { print $6 }')
size=$((${size:-0}))
[ "$size" -gt 0 ] || { echo "$1 has no thread-local storage: does readelf know it?" >&2; exit 1; }
[ "$size" -le 64 ] || { echo "$1 has $size bytes of thread-local storage; 64 are allowed (kvo_own in threads/record.h)" >&2; exit 1; }
echo "$size bytes of thread-local storage"
