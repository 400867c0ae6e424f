#!/usr/bin/env bash
# Tests the Swift package for GLib, and uses the programs of Examples/Desktop with keyboard and mouse in a window under Xvfb, with
# AddressSanitizer, where a warning of GLib or GTK ends them. The pictures are in build/desktop.
#   scripts/check-desktop.sh
#   scripts/check-desktop.sh --picture   optimised instead; also renews the picture in Documentation/pictures
set -euo pipefail
cd "$(dirname "$0")/.."

options=(--sanitize=address)
[[ ${1-} == --picture ]] && options=(-c release)
scripts/require.sh swift git python3 libffi-dev libadwaita-1-dev xvfb xauth xdotool imagemagick dbus libglib2.0-bin
out=$PWD/build/desktop
mkdir -p "$out/schemas"

echo "== The Swift package for GLib"
G_DEBUG=fatal-criticals swift test --package-path bindings/glib --scratch-path "$out/glib"

echo "== The applications"
# The tutorial shows their code.
python3 - <<'END'
import pathlib, re
desktop = pathlib.Path("Examples/Desktop")
sources = [path.read_text() for path in desktop.glob("Sources/*/*.swift")]
for block in re.findall(r"```swift\n(.*?)```", (desktop / "README.md").read_text(), re.S):
    if not any(block in source for source in sources):
        raise SystemExit("check-desktop: no source contains this block of the README:\n" + block)
END
options+=(--package-path Examples/Desktop --scratch-path "$out/build")
swift build "${options[@]}"
cp Examples/Desktop/schemas/*.xml "$out/schemas"
glib-compile-schemas "$out/schemas"
export OUT=$out PROGRAMS GSETTINGS_SCHEMA_DIR=$out/schemas GSETTINGS_BACKEND=memory G_DEBUG=fatal-warnings
export GSK_RENDERER=cairo GDK_BACKEND=x11 GTK_A11Y=none LANG=C.UTF-8
# GTK and its drivers leak.
export ASAN_OPTIONS=detect_leaks=0
PROGRAMS=$(swift build "${options[@]}" --show-bin-path)
dbus-run-session -- xvfb-run -a -s "-screen 0 1200x760x24" scripts/use-desktop.sh 2>"$out/log" ||
  { cat "$out/log" "$out"/{editor,desktop}.txt >&2; exit 1; }
[[ ${1-} == --picture ]] || exit 0
convert "$out/window.png" -crop 1120x700+0+0 +repage +dither -colors 64 Documentation/pictures/desktop.png
