#!/usr/bin/env bash
# Makes pages with `kvo view`, of the avalanche of Examples/, of one with branches, of text that looks like HTML and of a quarter of a
# million events, and uses them in headless Chromium.
#   scripts/check-view.sh              leaves the pages and their pictures in build/view
#   scripts/check-view.sh --pictures   also renews the pictures in Documentation/pictures
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/require.sh swift git libffi-dev chromium chromium-driver python3-selenium python3-pil fonts-dejavu-core

out=build/view
mkdir -p "$out"
export SWIFT_BACKTRACE=enable=no
scripts/quietly.sh check-view swift build --package-path Tools --scratch-path .build --disable-build-manifest-caching --product kvo
kvo=$(swift build --package-path Tools --scratch-path .build --show-bin-path)/kvo

. scripts/client.sh
swiftc "${client_flags[@]}" -warnings-as-errors -g -parse-as-library -module-name avalanche Examples/Monitor/Sources/avalanche/*.swift \
  "${objects[@]}" -lffi -o "$out/avalanche"
"$out/avalanche" "$out/run.json" "$out/graph.json"

/usr/bin/python3 Tests/View/traces.py "$out"
"$kvo" view "$out/run.json" "$out/graph.json" -o "$out/avalanche.html"
"$kvo" view "$out/hostile.json" -o "$out/hostile.html"
"$kvo" view "$out/shop.json" -o "$out/shop.html"
"$kvo" view "$out/graph.json" -o "$out/graph.html"
time "$kvo" view "$out/large.json" -o "$out/large.html"
rm "$out/large.json"
/usr/bin/python3 Tests/View/page.py "$out"

[[ ${1:-} == --pictures ]] || exit 0
mkdir -p Documentation/pictures
for name in page step; do
  /usr/bin/python3 - "$out/$name.png" "Documentation/pictures/avalanche-$name.png" <<'END'
import sys
from PIL import Image
Image.open(sys.argv[1]).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(sys.argv[2], optimize=True)
END
done
ls -l Documentation/pictures
