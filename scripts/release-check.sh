#!/usr/bin/env bash
# Runs everything that a release must pass, in one go, from a fresh clone of the committed state, and lists what ran, how long, and with
# what result. It takes about two hours on two cores.
#   scripts/release-check.sh --list     prints the commands only
#   scripts/release-check.sh --keep     keeps the clone, whose path is printed
#   scripts/release-check.sh FOLDER     clones into this folder, which must not exist, and keeps it
set -euo pipefail
cd "$(dirname "$0")/.."

# In the order of README and CONTRIBUTING: what a user types first comes first.
commands=(
  "scripts/version.sh --check"
  "make demo"
  "make test"
  "make check-quick"
  "make check"
  "make docs"
  "make bench"
)

keep=false
folder=
case ${1:-} in
  --list)
    printf '%s\n' "${commands[@]}"
    exit 0
    ;;
  --keep) keep=true ;;
  -*)
    echo "usage: scripts/release-check.sh [--list | --keep | FOLDER]" >&2
    exit 2
    ;;
  ?*) folder=$1 keep=true ;;
esac

left=$(git status --porcelain)
[[ -z $left ]] || printf 'release-check: these uncommitted changes are not checked:\n%s\n' "$left"
version=$(scripts/version.sh)
commit=$(git rev-parse --short HEAD)
if [[ -z $folder ]]; then
  folder=$(mktemp -d)/swift-kvo
elif [[ -e $folder ]]; then
  echo "release-check: $folder exists" >&2
  exit 2
fi
git clone --quiet --no-hardlinks . "$folder"
$keep || trap 'rm -rf "$folder"' EXIT
log=$PWD/build/log/release-check
rm -rf "$log"
mkdir -p "$log"
echo "Checking $version at $commit in $folder; the output is in build/log/release-check."

failed=0
number=0
begun=$SECONDS
for command in "${commands[@]}"; do
  number=$((number + 1))
  output=$log/$number-$(tr -cs 'a-z.\n' '-' <<<"$command").txt
  before=$SECONDS
  result=passed
  (cd "$folder" && bash -c "$command") </dev/null >"$output" 2>&1 || { result="FAILED ($?)" failed=$((failed + 1)); }
  took=$((SECONDS - before))
  printf '%-30s %-12s %3d min %02d s  %s\n' "$command" "$result" $((took / 60)) $((took % 60)) "$(tail -n 1 "$output" | cut -c1-80)"
done
# A build may not leave files that git does not ignore, nor change any.
left=$(git -C "$folder" status --porcelain)
if [[ -n $left ]]; then
  printf 'FAILED: the commands left or changed files:\n%s\n' "$left"
  failed=$((failed + 1))
fi
took=$((SECONDS - begun))
printf '%s at %s: %d commands in %d min %02d s\n' "$version" "$commit" "$number" $((took / 60)) $((took % 60))
printf '%d passed, %d failed\n' $((number - failed)) "$failed"
((failed == 0))
