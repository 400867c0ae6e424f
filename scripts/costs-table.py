"""Writes the tables of costs into a document: costs-table.py RESULTS.json DOCUMENT.md MACHINE

Replaces what is between the two lines BEGIN and END. MACHINE says what the results were measured with.
"""

import json
import pathlib
import sys

BEGIN = "<!-- Written by make bench, from here: -->"
END = "<!-- to here. -->"


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


def main(source, document, machine):
    results = json.loads(pathlib.Path(source).read_text(encoding="utf-8"))
    document = pathlib.Path(document)
    text = document.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"costs-table: {document} has not one line {BEGIN} and one line {END}")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    document.write_text("\n".join([before + BEGIN, "", *written(results, machine), "", END + after]), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
