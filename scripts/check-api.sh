#!/usr/bin/env bash
# Compares the public Swift API with Documentation/api-baseline.txt, and checks that each public symbol has a doc comment.
# To accept an intended change: scripts/check-api.sh --bless
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/require.sh swift git libffi-dev python3

scripts/symbol-graphs.sh build/api
exec python3 scripts/api.py build/api Documentation/api-baseline.txt "$@"
