#!/usr/bin/env bash
# Checks and installs the prerequisites of a command: scripts/require.sh swift libffi-dev cmake …
# "swift" is the toolchain; the other words are Debian packages. If all are present, nothing is printed. Missing packages are
# installed if the script runs as root; otherwise it prints their names and the command that installs them.
set -euo pipefail

die() {
  printf '%s\n' "$@" >&2
  exit 1
}

require_swift() {
  command -v swift >/dev/null || die \
    "swift-kvo needs Swift 6.2 or later, and there is no 'swift' on the PATH." \
    "Install it as https://www.swift.org/install/linux says, then run this again."
  local version
  version=$(swift --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9]+)\.([0-9]+).*/\1 \2/p' | head -n 1)
  read -r major minor <<<"${version:-0 0}"
  ((major > 6 || (major == 6 && minor >= 2))) || die \
    "swift-kvo needs Swift 6.2 or later; 'swift --version' says: $(swift --version 2>&1 | head -n 1)"
}

# Tests for the program or file of a package if possible, so that one installed without apt counts too.
present() {
  case $1 in
    libffi-dev) [[ -n $(find /usr/include /usr/local/include -maxdepth 2 -name ffi.h -print -quit 2>/dev/null) ]] &&
      [[ -n $(find /usr/lib /usr/local/lib /lib -maxdepth 2 -name 'libffi.so' -print -quit 2>/dev/null) ]] ;;
    clang-format | cmake | clang | gcc | g++ | git | make | valgrind | pkg-config | python3) command -v "$1" >/dev/null ;;
    ninja-build) command -v ninja >/dev/null ;;
    *) [[ $(dpkg-query -W -f='${db:Status-Abbrev}' "$1" 2>/dev/null) == ii* ]] ;;
  esac
}

missing=()
for word in "$@"; do
  if [[ $word == swift ]]; then
    require_swift
  elif ! present "$word"; then
    missing+=("$word")
  fi
done
((${#missing[@]})) || exit 0

command -v apt-get >/dev/null || die \
  "Missing: ${missing[*]} (names of Debian packages). There is no apt-get here: install their like, then run this again."
((EUID == 0)) || die \
  "Missing: ${missing[*]}. Type this, then run the command again:" \
  "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
install() { apt-get install -y --no-install-recommends "${missing[@]}" </dev/null >>"$log" 2>&1; }

echo "Installing ${missing[*]} …" >&2
# The package lists of a new machine are empty or outdated; they are updated only if an installation needs it.
if ! install && ! { apt-get update </dev/null >>"$log" 2>&1 && install; }; then
  cat "$log" >&2
  die "apt-get could not install ${missing[*]}; its output is above."
fi
for word in "${missing[@]}"; do
  present "$word" || die "apt-get installed $word, but what it is needed for is still not found."
done
