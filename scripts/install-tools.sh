#!/usr/bin/env bash
# Builds the command kvo, optimised, and installs it with its manual pages: kvo(1), one for each subcommand, and those of libkvo's
# functions if Doxygen is there to make them. DESTDIR is put before the prefix.
#   scripts/install-tools.sh PREFIX
set -euo pipefail
cd "$(dirname "$0")/.."

prefix=${1:?"say where to install, such as /usr/local"}
to=${DESTDIR:-}$prefix
build=(swift build --package-path Tools --scratch-path .build --disable-build-manifest-caching -c release)
scripts/quietly.sh install-tools "${build[@]}" --product kvo
program=$("${build[@]}" --show-bin-path)/kvo
install -D -m 755 "$program" "$to/bin/kvo"

PYTHONDONTWRITEBYTECODE=1 python3 scripts/manual/tool_pages.py "$program" build/tool-pages
install -D -m 644 -t "$to/share/man/man1" build/tool-pages/*.1
if command -v doxygen >/dev/null; then
  scripts/manual.sh
  install -d "$to/share/man/man3"
  cp -a build/manual/man/man3/. "$to/share/man/man3"
fi
echo "installed $to/bin/kvo and its pages: kvo --help, man kvo"
