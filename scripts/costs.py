"""Compares counted instructions and allocations with a baseline: costs.py FOLDER BASELINE PLACE [--bless].

FOLDER contains the output of `Counts costs` and of callgrind. A baseline names the machine and compiler: another compiler generates other
instructions, so with another one the counts are printed but not compared.
"""

import pathlib
import re
import sys

OPERATIONS = 1000  # As in Benchmarks/Sources/Counts.
HEADER = f"""\
# What each row of the benchmarks costs: instructions of one operation, allocations of {OPERATIONS}, the row.
# Compared and written by scripts/check-costs.sh. Counted with: """


def allowed(instructions):
    """The tolerance for variations of the code and data layout."""
    return instructions * 1.03 + 2


def counted(folder):
    """Row -> (instructions of one operation, allocations of all)."""
    instructions = {}
    for dump in folder.glob("callgrind.*"):
        text = dump.read_text()
        name = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.M)
        if name:
            instructions[name[1]] = int(re.search(r"^summary: (\d+)$", text, re.M)[1]) / OPERATIONS
    lines = (folder / "allocations.txt").read_text().splitlines()
    return {name: (instructions[name], int(number)) for name, number in (line.split("\t") for line in lines)}


def written(costs, place):
    lines = (f"{instructions:10.1f} {allocations:8}  {name}\n" for name, (instructions, allocations) in sorted(costs.items()))
    return HEADER + place + "\n" + "".join(lines)


def read(text):
    """The machine and compiler of the baseline, and its rows."""
    place = text[len(HEADER):].partition("\n")[0]
    lines = (line.split(maxsplit=2) for line in text.splitlines() if not line.startswith("#"))
    return place, {name: (float(instructions), int(allocations)) for instructions, allocations, name in lines}


def differences(costs, baseline):
    """Returns (what is worse or not listed, what is better)."""
    worse = [f"no longer measured: {name}" for name in baseline if name not in costs]
    better = []
    for name, (instructions, allocations) in costs.items():
        if name not in baseline:
            worse.append(f"not in the baseline: {name}")
            continue
        old_instructions, old_allocations = baseline[name]
        change = f"{old_instructions:.1f} -> {instructions:.1f} instructions: {name}"
        if instructions > allowed(old_instructions):
            worse.append(change)
        elif old_instructions > allowed(instructions):
            better.append(change)
        change = f"{old_allocations} -> {allocations} allocations of {OPERATIONS} operations: {name}"
        if allocations != old_allocations:
            (worse if allocations > old_allocations else better).append(change)
    return worse, better


def main(folder, baseline, place, *arguments):
    folder, baseline = pathlib.Path(folder), pathlib.Path(baseline)
    costs = counted(folder)
    if arguments == ("--bless",):
        baseline.write_text(written(costs, place))
        return f"{baseline}: {len(costs)} rows written", 0
    if arguments:
        return f"costs: unknown argument {arguments[0]}", 2
    known_place, known = read(baseline.read_text()) if baseline.exists() else ("nowhere yet", {})
    if known_place != place:
        print(written(costs, place))
        return f"{baseline} was made with {known_place}; this is {place}: not compared", 0
    worse, better = differences(costs, known)
    for title, lines in (("Worse", worse), ("Better", better)):
        if lines:
            print(f"{title} than {baseline}:", *lines, sep="\n  ")
    if worse:
        return "To accept the change, run scripts/check-costs.sh --bless", 1
    if better:
        return "Keep it: scripts/check-costs.sh --bless", 0
    return f"costs: {len(costs)} rows as in {baseline}", 0


if __name__ == "__main__":
    message, status = main(*sys.argv[1:])
    print(message)
    sys.exit(status)
