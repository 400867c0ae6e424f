#!/usr/bin/env bash
# Uses the programs of Examples/Desktop as a person would; for scripts/check-desktop.sh, which sets the variables and the display.
set -euo pipefail

start() {
  echo "-- $1"
  "$PROGRAMS/$1" >"$OUT/$1.txt" 2>&1 &
  program=$!
  window=$(timeout 60 xdotool search --sync --onlyvisible --pid "$program" | head -1)
}
# titled TEXT: waits until the window's title, which is bound to the model, matches.
titled() {
  for _ in {1..100}; do
    name=$(xdotool getwindowname "$window")
    [[ $name == $1 ]] && return
    sleep 0.1
  done
  echo "use-desktop: the title is \"$name\", not \"$1\"" >&2
  return 1
}
click() { xdotool mousemove "$1" "$2" click 1; sleep 0.3; }
picture() { import -window root "$OUT/$1.png"; }
# Closes the window; the program has to end by itself.
close() {
  click "$1" "$2"
  for _ in {1..100}; do kill -0 "$program" 2>/dev/null || break; sleep 0.1; done
  ! kill "$program" 2>/dev/null || { echo "use-desktop: the window does not close" >&2; return 1; }
  wait "$program"
}

start editor
titled "Untitled"
xdotool windowfocus "$window" key ctrl+a type "Moby-Dick"
titled "Moby-Dick"
xdotool key Tab key space
picture editor
# No window manager closes it: it has to be alive, and to end of this signal.
kill "$program"
wait "$program" || [[ $? == $((128 + 15)) ]]

start desktop
titled "* processes"
sleep 2
picture processes
click 360 67 # sorts by PID
click 480 67 # by CPU
click 130 150 # selects a row
xdotool key Down Down Page_Down Home
picture selected
click 130 28
xdotool type "no such process"
titled "0 of * processes"
xdotool key ctrl+a type "xvfb"
titled "[1-9]* of * processes"
click 888 28 # the observations
sleep 3
picture observations
click 130 28
xdotool key ctrl+a BackSpace
titled "[1-9]* processes"
sleep 8
click 130 92
picture window
click 978 28 # the preferences
xdotool key ctrl+a type "0.2"
xdotool key Return Escape
sleep 2
xdotool key Escape
close 1092 28
