#!/usr/bin/env bash
# Builds the command kvo, optimised, and installs it with its manual pages: kvo(1), one for each subcommand, and those of libkvo's
# functions if Doxygen is there to make them. DESTDIR is put before the prefix.
#   scripts/install-tools.sh PREFIX
set -euo pipefail
cd "$(dirname "$0")/.."

prefix=${1:?"say where to install, such as /usr/local"}
to=${DESTDIR:-}$prefix
scripts/require.sh help2man
build=(swift build --package-path Tools --scratch-path .build --disable-build-manifest-caching -c release)
scripts/quietly.sh install-tools "${build[@]}" --product kvo
program=$("${build[@]}" --show-bin-path)/kvo
install -D -m 755 "$program" "$to/bin/kvo"

pages=$to/share/man/man1
mkdir -p "$pages"
for command in "" $("$program" --help | sed -nE '/^SUBCOMMANDS/,$s/^  ([a-z]+) .*/\1/p'); do
  abstract=$("$program" $command --help | sed -nE 's/^OVERVIEW: (.*[^.])\.?$/\1/p')
  help2man --no-info --name "$abstract" --output "$pages/kvo${command:+-$command}.1" "$program${command:+ $command}"
done
if command -v doxygen >/dev/null; then
  scripts/manual.sh
  install -d "$to/share/man/man3"
  cp -a build/manual/man/man3/. "$to/share/man/man3"
fi
echo "installed $to/bin/kvo and its pages: kvo --help, man kvo"
