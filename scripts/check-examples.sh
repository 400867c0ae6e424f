#!/usr/bin/env bash
# Uses the monitor of Examples/ as a person would: in a terminal, by keys, and, without --quick, in a browser.
#   scripts/check-examples.sh          leaves the screen and the page's picture in build/examples
#   scripts/check-examples.sh --quick  the terminal only
set -euo pipefail
cd "$(dirname "$0")/.."

quick=false
[[ ${1-} == --quick ]] && quick=true
scripts/require.sh swift git libffi-dev libncurses-dev tmux
$quick || scripts/require.sh chromium chromium-driver python3-selenium fonts-dejavu-core

swift build --package-path Examples/Monitor --scratch-path .build --disable-build-manifest-caching --product monitor
monitor=$PWD/.build/debug/monitor
out=build/examples
mkdir -p "$out"

export SWIFT_BACKTRACE=enable=no LC_ALL=C.UTF-8 TERM=xterm-256color
# A server of its own, so that a session of the user's is not touched.
session=(tmux -L "kvo-$$" -f /dev/null)
watched=()
end() {
  "${session[@]}" kill-server 2>/dev/null || true
  kill "${watched[@]}" 2>/dev/null || true
}
trap end EXIT

screen() { "${session[@]}" capture-pane -p -t monitor; }
keys() { "${session[@]}" send-keys -t monitor "$@"; }

# Waits until the screen has a line that matches; "not" in front: until it has none.
await() {
  local expected=0
  if [[ $1 == not ]]; then expected=1 && shift; fi
  for _ in {1..100}; do
    local found=0
    screen | grep -qE -- "$1" || found=1
    ((found == expected)) && return
    sleep 0.1
  done
  echo "check-examples: the screen should$([[ $expected == 1 ]] && echo " not") have: $1" >&2
  screen >&2
  exit 1
}

sleep 7531 & watched+=($!)
sleep 7532 & watched+=($!)
if TERM=dumb script -qec "$monitor" /dev/null >"$out/dumb.txt"; then
  echo "check-examples: a terminal of type \"dumb\" should be refused" >&2
  exit 1
fi
grep -q '"dumb" (TERM)' "$out/dumb.txt"

"${session[@]}" new-session -d -s monitor -x 100 -y 30 "$monitor --interval 0.2 --web 0; echo status: \$?; sleep 60"

await 'CPU .* memory .* of '
await '[0-9]+ processes'
await '^CPU [0-9]+ %   of 100 %'
await ' (running|sleeping|idle kernel thread|waiting for a device)$'
await '█|▇|▆|▅|▄|▃|▂|▁'

keys / 7531
keys BSpace BSpace BSpace BSpace sleep
await 'filter: sleep'
await "of [0-9]+ processes"
keys Enter p
await 'PID[▲▼]'
keys /
keys BSpace BSpace BSpace BSpace BSpace "${watched[0]}" Enter
await '^1 of [0-9]+ processes|^[0-9]+ of [0-9]+ processes'
keys Down
await 'sleep 7531'
# The selected process ends: its object, and with it what was bound to it.
kill "${watched[0]}"
wait "${watched[0]}" 2>/dev/null || true
await not 'sleep 7531'
keys / Escape
await not 'filter:'

keys o
await 'changes of observed properties, [0-9]+ calls of observers'
await 'set Machine\.|insert into Machine\.|remove from Machine\.'
await 'observer HeaderPane\.swift'
screen >"$out/inspector.txt"
keys o
await 'MEMORY'
# A wide terminal shows both.
"${session[@]}" resize-window -t monitor -x 150 -y 40
keys o
await 'PID .*What is observed|processes .*What is observed'
screen >"$out/wide.txt"
keys o
await not 'What is observed'
"${session[@]}" resize-window -t monitor -x 60 -y 12
await '↑↓ select'
await not 'No process is selected'
"${session[@]}" resize-window -t monitor -x 100 -y 30
await 'memory .* of '
screen >"$out/screen.txt"
keys q
await 'status: 0'
await not '↑↓ select'
"${session[@]}" kill-server

echo "The terminal follows the machine, the keys and its size"
$quick && exit

exec 3< <(exec "$monitor" --no-terminal --web 0 --interval 0.2)
watched+=($!)
read -r line <&3
/usr/bin/python3 Tests/Examples/page.py "${line##* }" "${watched[1]}" "$out/page.png"
kill -TERM "${watched[2]}"
wait "${watched[2]}"
