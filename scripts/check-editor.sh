#!/usr/bin/env bash
# Checks what an editor shows in a program that uses the library, by sourcekit-lsp: completions without the names that are public only for
# the macro, and an example in the text of each common method. Tests/Editor/program.txt is the program.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/require.sh swift python3

. scripts/client.sh
exec scripts/editor.py Tests/Editor/program.txt "${client_flags[@]}"
