"""Draws what a set costs by the number of observers and of objects: plot.py RESULTS.json PLOT.svg

Both diagrams have logarithmic axes. Colour-blind people can tell the colours apart (Okabe and Ito, Tol); each line also has
its own marker, and its name at its end.
"""

import json
import math
import re
import statistics
import sys
from html import escape

OURS = "swift-kvo"
# What a line of the results is compared with -> (name, colour, marker, dashes).
SERIES = {
    OURS: ("#d55e00", "circle", ""),
    "Qt 6 signal": ("#0072b2", "square", ""),
    "Qt 6 QProperty": ("#aa3377", "triangle", "7 3"),
    "GObject notify": ("#009e73", "diamond", "2 3"),
    "list in didSet": ("#444444", "cross", "9 3 2 3"),
}
PEERS = [("Qt 6 signal", "Qt 6 signal"), ("Qt 6 QProperty", "Qt 6 QProperty"), ("GObject notify", "GObject notify"),
         ("didSet that calls a list", "list in didSet")]
DIAGRAMS = [
    ("One set of a property, by the number of its observers", "observers",
     re.compile(r"observed set, Int, (\d+) closures?, options none")),
    ("One set of each of many observed objects, in random order", "objects",
     re.compile(r"observed set, each of ([\d ]+) objects once, random order")),
]
WIDTH, HEIGHT = 760, 400  # of one diagram
LEFT, RIGHT, TOP, BOTTOM = 64, 130, 40, 48
LABEL = 16  # the least distance of two names


def collect(results, pattern):
    """Returns {series: {x: ns}}. Our side was measured with each peer in turn; its value is the median."""
    ours, series = {}, {}
    for line in results:
        match = pattern.fullmatch(line["name"])
        if not match:
            continue
        x = int(match[1].replace(" ", ""))
        name = next((name for start, name in PEERS if line["against"].startswith(start)), None)
        if name:
            ours.setdefault(x, []).append(line["ns"])
            series.setdefault(name, {})[x] = line["againstNs"]
    if not ours:
        sys.exit(f"plot: no line of the results has a name such as {pattern.pattern}")
    return {OURS: {x: statistics.median(values) for x, values in ours.items()}, **series}


def number(value):
    return f"{value:,}".replace(",", " ")


def marker(kind, x, y, colour):
    shapes = {
        "circle": "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "square": "M-4 -4h8v8h-8z", "triangle": "M0 -5l5 9h-10z",
        "diamond": "M0 -5l5 5l-5 5l-5 -5z", "cross": "M-4 -4l8 8M-4 4l8 -8",
    }
    return f'<path transform="translate({x:.1f} {y:.1f})" d="{shapes[kind]}" fill="{colour}" stroke="{colour}" stroke-width="1.5"/>'


def spread(wanted):
    """Moves positions apart until none is closer to the next than LABEL. Takes and returns {key: position}."""
    placed, groups = {}, []
    for key, y in sorted(wanted.items(), key=lambda item: item[1]):
        groups.append([[key], y])
        while len(groups) > 1 and groups[-1][1] - groups[-2][1] < LABEL * (len(groups[-1][0]) + len(groups[-2][0])) / 2:
            keys, middle = groups.pop()
            others, other = groups.pop()
            both = others + keys
            groups.append([both, (middle * len(keys) + other * len(others)) / len(both)])
    for keys, middle in groups:
        for index, key in enumerate(keys):
            placed[key] = middle + LABEL * (index - (len(keys) - 1) / 2)
    return placed


def diagram(title, unit, series, top):
    """Returns the elements of one diagram."""
    xs = sorted({x for points in series.values() for x in points})
    ys = [y for points in series.values() for y in points.values()]
    low, high = math.log10(min(ys) * 0.8), math.log10(max(ys) * 1.25)
    right, bottom = WIDTH - RIGHT, top + HEIGHT - BOTTOM

    def across(x):
        return LEFT + (right - LEFT) * math.log10(x / xs[0]) / math.log10(xs[-1] / xs[0])

    def down(y):
        return bottom - (bottom - top - TOP) * (math.log10(y) - low) / (high - low)

    out = [f'<text x="{LEFT}" y="{top + 22}" class="title">{escape(title)}</text>']
    for decade in range(math.floor(low), math.ceil(high)):
        for step in range(1, 10):
            value = step * 10**decade
            if not low <= math.log10(value) <= high:
                continue
            named = step in (1, 2, 5)
            out.append(f'<path d="M{LEFT} {down(value):.1f}H{right}" class="{"grid" if step == 1 else "faint"}"/>')
            if named:
                out.append(f'<text x="{LEFT - 8}" y="{down(value) + 4:.1f}" class="tick" text-anchor="end">{value:g}</text>')
    for x in xs:
        out.append(f'<path d="M{across(x):.1f} {bottom}v5" class="axis"/>')
        out.append(f'<text x="{across(x):.1f}" y="{bottom + 19}" class="tick" text-anchor="middle">{number(x)}</text>')
    out.append(f'<path d="M{LEFT} {top + TOP}V{bottom}H{right}" class="axis"/>')
    out.append(f'<text x="{(LEFT + right) / 2:.0f}" y="{bottom + 38}" class="tick" text-anchor="middle">{unit}</text>')
    out.append(f'<text transform="translate(16 {(top + TOP + bottom) / 2:.0f}) rotate(-90)" class="tick" '
               'text-anchor="middle">nanoseconds of one set</text>')
    names = spread({name: down(points[max(points)]) for name, points in series.items()})
    for name, points in sorted(series.items(), key=lambda item: item[0] == OURS):  # ours is drawn last, above the others
        colour, shape, dashes = SERIES[name]
        places = [(across(x), down(y)) for x, y in sorted(points.items())]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="{3 if name == OURS else 1.8}" '
                   f'stroke-dasharray="{dashes or "none"}"/>')
        out += [marker(shape, x, y, colour) for x, y in places]
        x, y = places[-1]
        out.append(f'<path d="M{x + 6:.1f} {y:.1f}L{right + 14} {names[name]:.1f}" stroke="{colour}" class="leader"/>')
        weight = ' font-weight="bold"' if name == OURS else ""
        out.append(f'<text x="{right + 18}" y="{names[name] + 4.5:.1f}" fill="{colour}" class="name"{weight}>{escape(name)}</text>')
    return out


def main(source, target):
    with open(source, encoding="utf-8") as file:
        results = json.load(file)
    height = HEIGHT * len(DIAGRAMS)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" role="img" '
        'font-family="Helvetica, Arial, sans-serif">',
        "<title>What a set costs by the number of observers and of objects</title>",
        "<style>.title{font-size:15px;font-weight:bold;fill:#222}.tick{font-size:12px;fill:#444}.name{font-size:13px}"
        ".axis{stroke:#444;fill:none}.grid{stroke:#bbb}.faint{stroke:#ececec}.leader{fill:none;stroke-width:.8;opacity:.6}</style>",
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
    ]
    for index, (title, unit, pattern) in enumerate(DIAGRAMS):
        out += diagram(title, unit, collect(results, pattern), index * HEIGHT)
    with open(target, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n</svg>\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
