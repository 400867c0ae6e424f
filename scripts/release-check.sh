#!/usr/bin/env bash
# Runs everything that a release must pass, in one go, from a fresh clone of the committed state, and lists what ran, how long, and with
# what result. It takes about three hours on two cores. The clone is removed if all pass.
#   scripts/release-check.sh --list     prints the commands only
set -euo pipefail
cd "$(dirname "$0")/.."

# What a user types first comes first, then what has to be alone on the machine, and the longest last. `make check` is the quick forms of
# the checks below.
commands=("make demo" "make test" "make check-quick" "make bench")
checks="costs scaling packages docs documents editor without-macros model clients examples view bindings desktop ports c sanitizers crashes"
for check in $checks; do
  commands+=("make check-$check")
done
commands+=("make fuzz" "make stress")
if [[ ${1:-} == --list ]]; then
  printf '%s\n' "${commands[@]}"
  exit
fi

unset MAKEFLAGS MAKELEVEL # of `make release-check`: the last line of each output would be make's
folder=$(mktemp -d)/swift-kvo log=$PWD/build/log/release-check failed=0
[[ -z $(git status --porcelain) ]] || echo "release-check: there are uncommitted changes, which are not checked"
git clone --quiet --no-hardlinks . "$folder"
rm -rf "$log"
mkdir -p "$log"
echo "Checking $(scripts/version.sh) at $(git rev-parse --short HEAD) in $folder; the output is in build/log/release-check."
for command in "${commands[@]}"; do
  output=$log/$(tr -cs 'a-z.\n' '-' <<<"$command").txt before=$SECONDS result=passed
  (cd "$folder" && bash -c "$command") </dev/null >"$output" 2>&1 || { result="FAILED ($?)" failed=$((failed + 1)); }
  took=$((SECONDS - before))
  printf '%-30s %-12s %3d min %02d s  %s\n' "$command" "$result" $((took / 60)) $((took % 60)) "$(tail -n 1 "$output" | cut -c1-80)"
done
# A whole run of the benchmarks writes the tables and the plot, which are committed for the release.
measured=(Documentation/Costs.md Documentation/costs.svg)
for file in "${measured[@]}"; do cp "$folder/$file" "$file"; done
echo "${measured[*]} are as measured here."
# Other files that git does not ignore may neither be left nor changed.
git -C "$folder" checkout --quiet -- "${measured[@]}"
if [[ -n $(git -C "$folder" status --porcelain) ]]; then
  echo "FAILED: the commands left or changed files:"
  git -C "$folder" status --porcelain
  failed=$((failed + 1))
fi
echo "release-check: ${#commands[@]} commands, $failed failed"
((failed == 0)) && rm -rf "$folder"
