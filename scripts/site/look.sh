#!/usr/bin/env bash
# Opens a page of each kind of the site in headless Chromium, in a folder of a host, and fails if its heading or text is not shown.
# The pictures are in build/site/pictures, to be looked at. scripts/docs.sh makes the site first.
set -euo pipefail
cd "$(dirname "$0")/../.."

scripts/require.sh chromium python3
pictures=$PWD/build/site/pictures
rm -rf "$pictures"
mkdir -p "$pictures"
# The site is at …/docs/, not at the root of the host: its pages have to find out.
coproc server { exec python3 -u -m http.server 0 --bind 127.0.0.1 --directory build 2>/dev/null; }
trap 'kill "$server_PID" 2>/dev/null || true' EXIT
read -r -u "${server[0]}" line
[[ $line =~ (http://[0-9.:]+) ]]
site=${BASH_REMATCH[1]}/docs

# look <picture> <page> <text…>: each text has to be in the page as it is shown. The pictures are of a wide window in light, and of a
# narrow one in dark.
look() {
  local chromium=(chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --virtual-time-budget=20000
    "--user-data-dir=$pictures/profile")
  "${chromium[@]}" --window-size=1400,2000 "--screenshot=$pictures/$1.png" "$site/$2" >/dev/null 2>&1
  "${chromium[@]}" --window-size=500,1600 --blink-settings=preferredColorScheme=0 "--screenshot=$pictures/$1-dark.png" \
    "$site/$2" >/dev/null 2>&1
  "${chromium[@]}" --dump-dom "$site/$2" 2>/dev/null | python3 -c '
import html, re, sys
page = re.sub(r"<(script|style)\b.*?</\1>", "", sys.stdin.read(), flags=re.S)
shown = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", "", page)))
missing = [text for text in sys.argv[2:] if text not in shown]
if missing:
    sys.exit(f"look: {sys.argv[1]} does not show {missing}, but: {shown[:500]}")' "$2" "${@:3}"
}
look first "" "KeyValueObserving" "Receivers, observers and tokens" "Getting started"
look article documentation/keyvalueobserving/gettingstarted/ "An observable class" "final class Account"
look columns documentation/keyvalueobserving/porting/ "Porting code" "@objc dynamic var title" "@NotObserved"
look leaks documentation/keyvalueobserving/leaks/ "The cycle to avoid"
look fault documentation/keyvalueobserving/kvo0003/ "What happened" "Apple’s message"
look type documentation/keyvalueobserving/keyvalueobservable/ "An object whose properties can be observed" "Streams and views"
look member "documentation/keyvalueobserving/keyvaluesource/map(_:)/" "Parameters" "transform"
look testing documentation/keyvalueobservingtesting/ "expectChanges"
look tutorials tutorials/tutorials/ "Observe properties, step by step" "A form with bindings"
look tutorial tutorials/keyvalueobserving/tablemodel/ "A table that follows its model" "Step 1"
look missing 404.html "No such page"
look c c/index.html "Key-Value Observing for C and C++" "Swift"
look header c/kvo__coding_8h.html "kvo_"
rm -rf "$pictures/profile"
echo "look: a page of each kind is shown; the pictures are in build/site/pictures"
