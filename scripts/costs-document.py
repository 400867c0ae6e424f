"""Writes what make bench has measured into Costs.md, and the plot costs.svg beside it: costs-document.py RESULTS.json Costs.md MACHINE

The tables are between the two lines BEGIN and END. MACHINE says what the results were measured with. The plot, by gnuplot, has what a set
costs by the number of observers and of objects.
"""

import json
import pathlib
import re
import statistics
import subprocess
import sys

BEGIN = "<!-- Written by make bench, from here: -->"
END = "<!-- to here. -->"
OURS = "swift-kvo"
# The beginning of what a line of the results is compared with -> its name, colour and kind of points. Colour-blind people can tell the
# colours apart (Okabe and Ito, Tol).
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


def number(value):
    """Three digits for most: 0.013, 0.45, 1.25, 18.3, 931, 2 450."""
    if abs(value) >= 1000:
        return f"{value:,.0f}".replace(",", " ")
    digits = 0 if value == 0 else 3 if value < 0.1 else 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:.{digits}f}"


def measured(line):
    if line["ns"] is None:
        return f'{number(line["bytes"])} bytes'
    return f'{number(line["ns"] / 1e6)} ms' if line["ns"] >= 1e6 else number(line["ns"])


def bar(line):
    limit = line["bar"]
    return {
        None: "", "ratioAtMost": f"<= {limit}", "throughputAtLeast": f">= {limit}", "bytesAtMost": f"<= {limit} bytes",
        "bytesAddedAtMost": f"<= {limit} bytes more",
    }[line["barKind"]]


def held(line):
    """Whether the line holds its bar; otherwise by which part of the bar it misses it."""
    if line["met"]:
        return "yes"
    kind = line["barKind"]
    value = line["ratio"]
    if kind.startswith("bytes"):
        value = line["bytes"] - (line["againstBytes"] if kind == "bytesAddedAtMost" else 0)
    part = abs(value / line["bar"] - 1)
    return f"**no**, {part:.1%} {'under' if kind == 'throughputAtLeast' else 'over'}"


def table(titles, rows):
    yield "| " + " | ".join(titles) + " |"
    yield "|" + "|".join("---:" if title in ("ns", "ratio", "bar") else "---" for title in titles) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def written(results, machine):
    def cells(line):
        return [line["name"], measured(line), line["against"], "" if line["ratio"] is None else number(line["ratio"])]

    with_bar = [line for line in results if line["barKind"]]
    others = [line for line in results if not line["barKind"]]
    met = sum(line["met"] for line in with_bar)
    yield f"Measured with {machine}."
    yield ""
    yield f"{len(with_bar)} comparisons have a bar; {met} hold it:"
    yield ""
    titles = ["operation", "ns", "compared with", "ratio"]
    yield from table([*titles, "bar", "held"], ([*cells(line), bar(line), held(line)] for line in with_bar))
    yield ""
    yield f"{len(others)} comparisons have no bar:"
    yield ""
    yield from table(titles, map(cells, others))


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
        sys.exit(f"costs-document: no line of the results has a name such as {pattern}")
    return {**series, OURS: {x: statistics.median(values) for x, values in ours.items()}}


def diagram(title, unit, series):
    lines, data = [], []
    for peer, points in series.items():
        name, colour, kind = SERIES[peer]
        lines.append(f'"-" with linespoints lc rgb "{colour}" lw {2.5 if peer == OURS else 1.5} pt {kind} ps 0.7 title "{name}"')
        data += [*(f"{x} {y}" for x, y in sorted(points.items())), "e"]
    return [f'set title "{title}" font ",15"', f'set xlabel "{unit}"', "plot " + ", ".join(lines), *data]


def main(source, document, machine):
    results, document = json.loads(pathlib.Path(source).read_text()), pathlib.Path(document)
    text = document.read_text()
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"costs-document: {document} has not one line {BEGIN} and one line {END}")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    document.write_text("\n".join([before + BEGIN, "", *written(results, machine), "", END + after]))
    commands = [SETTINGS % document.with_name("costs.svg")]
    for title, unit, pattern in DIAGRAMS:
        commands += diagram(title, unit, collected(results, pattern))
    subprocess.run(["gnuplot"], input="\n".join(commands), text=True, check=True)


main(*sys.argv[1:])
