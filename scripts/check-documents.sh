#!/usr/bin/env bash
# Checks the links in all documents, and the names in README.md and Documentation/; runs a short form of each command in README.md,
# CONTRIBUTING.md and the guides, as listed in Tests/Documents/commands.txt.
#   scripts/check-documents.sh          the commands that take seconds
#   scripts/check-documents.sh --slow   all that no other check runs
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/require.sh swift python3 cmake ninja-build gcc libffi-dev libncurses-dev pkg-config
for product in Tools:kvo Examples/Monitor:hostwatch Examples/Monitor:monitor; do
  package=(--package-path "${product%:*}" --scratch-path .build --disable-build-manifest-caching)
  scripts/quietly.sh "check-documents-${product#*:}" swift build "${package[@]}" --product "${product#*:}"
  PATH=$(realpath "$(swift build "${package[@]}" --show-bin-path)"):$PATH
done
export PATH
scripts/libkvo.sh kvo test_basics >/dev/null # some commands use these
python3 scripts/links.py
exec python3 scripts/documents.py build/documents "$@"
