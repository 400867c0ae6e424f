#!/usr/bin/env bash
# Checks what `make bench` makes of its results: the plot and the tables of Documentation/Costs.md, from the small sample in Tests/Costs.
#   scripts/check-bench.sh --bless   accepts a change of the tables
set -euo pipefail
cd "$(dirname "$0")/.."

out=build/check-bench
rm -rf "$out"
mkdir -p "$out"
sample=Tests/Costs/results.json
cp Tests/Costs/document.md "$out/document.md"
python3 scripts/costs-table.py "$sample" "$out/document.md" "a sample"
[[ ${1:-} != --bless ]] || cp "$out/document.md" Tests/Costs/expected.md
diff -u Tests/Costs/expected.md "$out/document.md"
python3 scripts/plot.py "$sample" "$out/plot.svg"
# A line for each system in both diagrams; QProperty is only in the first.
python3 - "$out/plot.svg" <<'END'
import sys
from xml.etree import ElementTree

drawn = ElementTree.parse(sys.argv[1]).getroot()
lines = [element for element in drawn.iter() if element.tag.endswith("}polyline")]
points = [len(line.get("points").split()) for line in lines]
assert points == [3] * 5 + [2] * 4, f"the plot has lines of {points} points"
names = [element.text for element in drawn.iter() if element.get("class") == "name"]
assert names.count("swift-kvo") == 2 and len(names) == 9, f"the plot names {names}"
END
# The documents have what a whole run rewrites.
cp Documentation/Costs.md "$out/Costs.md"
python3 scripts/costs-table.py "$sample" "$out/Costs.md" "a sample"
grep -q '](costs.svg)' Documentation/Costs.md && [[ -s Documentation/costs.svg ]] || {
  echo "check-bench: Documentation/Costs.md does not show Documentation/costs.svg" >&2
  exit 1
}
echo "bench: the plot and the tables are as expected"
