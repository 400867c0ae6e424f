"""Draws what a set costs by the number of observers and of objects, with gnuplot: plot.py RESULTS.json PLOT.svg"""

import json
import re
import statistics
import subprocess
import sys

OURS = "swift-kvo"
# The beginning of what a line of the results is compared with -> its name, colour and kind of points. Colour-blind people can tell the colours
# apart (Okabe and Ito, Tol).
SERIES = {
    OURS: (OURS, "#d55e00", 7),
    "Qt 6 signal": ("Qt 6 signal", "#0072b2", 5),
    "Qt 6 QProperty": ("Qt 6 QProperty", "#aa3377", 9),
    "GObject notify": ("GObject notify", "#009e73", 13),
    "didSet that calls a list": ("list in didSet", "#444444", 2),
}
DIAGRAMS = [
    ("One set of a property, by the number of its observers", "observers", r"observed set, Int, (\d+) closures?, options none"),
    ("One set of each of many observed objects, in random order", "objects",
     r"observed set, each of ([\d ]+) objects once, random order"),
]
SETTINGS = """
set terminal svg size 760,800 font "Helvetica,13" background "#ffffff"
set output "%s"
set multiplot layout 2,1
set logscale xy
set autoscale xfix
set format "%%.0f"
set grid ytics lt 1 lc rgb "#dddddd"
set key outside right top reverse Left
set ylabel "nanoseconds of one set"
"""


def collected(results, pattern):
    """Returns {beginning: {x: ns}}. Our side was measured with each peer in turn; its value is the median."""
    ours, series = {}, {}
    for line in results:
        match = re.fullmatch(pattern, line["name"])
        peer = match and next((each for each in SERIES if line["against"].startswith(each)), None)
        if peer:
            x = int(match[1].replace(" ", ""))
            ours.setdefault(x, []).append(line["ns"])
            series.setdefault(peer, {})[x] = line["againstNs"]
    if not ours:
        sys.exit(f"plot: no line of the results has a name such as {pattern}")
    return {**series, OURS: {x: statistics.median(values) for x, values in ours.items()}}


def diagram(title, unit, series):
    lines, data = [], []
    for peer, points in series.items():
        name, colour, kind = SERIES[peer]
        lines.append(f'"-" with linespoints lc rgb "{colour}" lw {2.5 if peer == OURS else 1.5} pt {kind} ps 0.7 title "{name}"')
        data += [*(f"{x} {y}" for x, y in sorted(points.items())), "e"]
    return [f'set title "{title}" font ",15"', f'set xlabel "{unit}"', "plot " + ", ".join(lines), *data]


def main(source, target):
    with open(source, encoding="utf-8") as file:
        results = json.load(file)
    commands = [SETTINGS % target]
    for title, unit, pattern in DIAGRAMS:
        commands += diagram(title, unit, collected(results, pattern))
    subprocess.run(["gnuplot"], input="\n".join(commands), text=True, check=True)


main(*sys.argv[1:])
