#!/usr/bin/env bash
# Prints the version of the project, which CShim/include/kvo/kvo_base.h defines.
#   scripts/version.sh --check       fails if another file names another version
#   scripts/version.sh --set X.Y.Z   writes a version into all files that have it; CHANGELOG needs a section besides
set -euo pipefail
cd "$(dirname "$0")/.."
header=CShim/include/kvo/kvo_base.h

part() { sed -nE "s/^#define KVO_VERSION_$1 ([0-9]+)$/\1/p" "$header"; }
version=$(part MAJOR).$(part MINOR).$(part PATCH)
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || { echo "version.sh: $header has no KVO_VERSION_MAJOR, _MINOR and _PATCH" >&2; exit 1; }

interface=$(sed -nE 's/^#define KVO_ABI_NUMBER ([0-9]+)$/\1/p' "$header")

# Each row: a file, and the text in it that has the version: %V all three numbers, %M the first two;
# %A is the number of the binary interface, which only its definition in the header changes.
places=(
  "$header|such as \"%V\""
  "CShim/meson.build|project('kvo', 'c', version: '%V'"
  "CShim/meson.build|soversion: '%A'"
  "Documentation/ABI.md|the SONAME is \`libkvo.so.%A\`"
  "bindings/python/kvo/_library.py|\"libkvo.so.%A\""
  "Tests/CAPI/consumer/subprojects/kvo.wrap|directory = kvo-%V"
  "Tests/CAPI/consumer/subprojects/kvo.wrap|source_filename = kvo-%V.tar.gz"
  "Tests/CAPI/consumer/CMakeLists.txt|find_package(kvo %M REQUIRED)"
  "Tests/CAPI/api/bad_input.c|kvo_version_string(), \"%V\""
  "bindings/python/pyproject.toml|version = \"%V\""
  "bindings/glib/CMakeLists.txt|project(kvo_glib VERSION %V"
  "bindings/glib/meson.build|project('kvo-glib', 'c', version: '%V'"
  "README.md|This is version %M:"
)

text() { # TEMPLATE VERSION
  local whole=${1//%V/$2}
  whole=${whole//%A/$interface}
  echo "${whole//%M/${2%.*}}"
}

case ${1:-} in
  "") echo "$version" ;;
  --check)
    failed=0
    for row in "${places[@]}"; do
      expected=$(text "${row#*|}" "$version")
      grep -qF -- "$expected" "${row%%|*}" || { echo "${row%%|*}: does not have: $expected" >&2; failed=1; }
    done
    grep -qE "^## ${version//./\\.}, (unreleased|[0-9]{4}-[0-9]{2}-[0-9]{2})$" <(grep -m 1 '^## ' CHANGELOG.md) ||
      { echo "CHANGELOG.md: its first section is not '## $version, DATE' or '## $version, unreleased'" >&2; failed=1; }
    exit "$failed"
    ;;
  --set)
    new=${2:-}
    [[ $new =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || { echo "version.sh: --set takes a version such as 0.3.0" >&2; exit 2; }
    "$0" --check || { echo "version.sh: correct this first" >&2; exit 1; }
    for row in "${places[@]}"; do
      file=${row%%|*} from=$(text "${row#*|}" "$version") to=$(text "${row#*|}" "$new") python3 -c '
import os, pathlib
file = pathlib.Path(os.environ["file"])
file.write_text(file.read_text().replace(os.environ["from"], os.environ["to"]))'
    done
    IFS=. read -r major minor patch <<<"$new"
    sed -i -E "s/^(#define KVO_VERSION_MAJOR ).*/\1$major/; s/^(#define KVO_VERSION_MINOR ).*/\1$minor/;
      s/^(#define KVO_VERSION_PATCH ).*/\1$patch/" "$header"
    echo "$version is now $new. Begin CHANGELOG.md with '## $new, unreleased'."
    ;;
  *) echo "usage: scripts/version.sh [--check | --set X.Y.Z]" >&2; exit 2 ;;
esac
