"""Checks that each room of CShim/src uses only rooms above it in CShim/src/README.md, by the includes of its files and by the undefined
symbols of its objects; and that there are no cycles between the files of a room unless the room's header gives the reason."""

import collections
import pathlib
import re
import subprocess
import sys

SOURCES = pathlib.Path("CShim/src")


def rooms():
    names = re.findall(r"^\| `([a-z]+)/` \|", (SOURCES / "README.md").read_text(), re.M)
    folders = sorted(path.name for path in SOURCES.iterdir() if path.is_dir())
    if sorted(names) != folders:
        raise SystemExit(f"check-rooms: README.md lists {sorted(names)}, but there are {folders}")
    return {name: place for place, name in enumerate(names)}


def room_of(path):
    return path.parts[0] if len(path.parts) > 1 else ""


def included(order):
    """Returns the violations: files that include a file of a lower room, or of none."""
    wrong = []
    for path in sorted(SOURCES.rglob("*.[ch]")):
        own = path.relative_to(SOURCES)
        if own.name == "runtime.c":
            continue
        for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M):
            other = pathlib.Path(name)
            if not (SOURCES / other).exists():
                wrong.append(f"{own} includes {name}, which is not named from CShim/src")
            elif room_of(own) == "" and room_of(other) not in ("", "platform"):
                wrong.append(f"{own} includes {name}: only runtime.c may know the rooms")
            elif room_of(own) != "" and name != "hooks.h" and order[room_of(other)] > order[room_of(own)]:
                wrong.append(f"{own} includes {name}, which is of a room further down")
    return wrong


def symbols(objects):
    """Returns, for each source, the external symbols that it defines and that it uses."""
    defines, uses = {}, collections.defaultdict(set)
    for path in sorted(pathlib.Path(objects).rglob("*.o")):
        source = pathlib.Path(str(path.relative_to(objects)).removesuffix(".o"))
        if not (SOURCES / source).exists():
            continue  # of a file that was there at an earlier build
        listing = subprocess.run(["nm", "-P", path], capture_output=True, text=True, check=True).stdout
        for line in listing.splitlines():
            name, kind = line.split()[:2]
            if kind == "U":
                uses[source].add(name)
            elif kind in "TDBRCVW":
                defines[name] = source
    return defines, uses


def circles(graph):
    """Returns the groups of files that use each other: Tarjan's strongly connected components."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            group = []
            while not group or group[-1] != node:
                group.append(stack.pop())
            if len(group) > 1:
                found.append(sorted(group))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def explained(room):
    """Returns the cycles with a reason in the room's header: lines such as " * circle: a.c, b.c: the reason"."""
    headers = "".join(path.read_text() for path in (SOURCES / room).glob("*.h"))
    return [set(re.findall(r"\w+\.c", names)) for names in re.findall(r"^ \* circle: ([\w., ]+):", headers, re.M)]


def used(order, objects):
    defines, uses = symbols(objects)
    wrong, found = [], 0
    graphs = collections.defaultdict(lambda: collections.defaultdict(set))
    for source, names in sorted(uses.items()):
        own = room_of(source)
        for name in sorted(names):
            other = defines.get(name)
            # Any room may raise a fault.
            if other is None or other == source or own == "" or name.startswith("kvo__fault_"):
                continue
            if room_of(other) == own:
                graphs[own][source].add(other)
                graphs[own][other]
            elif room_of(other) == "":
                if name not in ("kvo__hooks", "kvo__attention"):
                    wrong.append(f"{source} uses {name} of {other}: only the table of hooks may be known")
            elif order[room_of(other)] > order[own]:
                wrong.append(f"{source} uses {name} of {other}, which is of a room further down")
    for room, graph in sorted(graphs.items()):
        allowed = explained(room)
        for group in circles(graph):
            if not any({path.name for path in group} <= names for names in allowed):
                wrong.append(f"{', '.join(map(str, group))} use each other, and no header of {room}/ says why: \" * circle: …\"")
            found += 1
    return wrong, len(uses), found


def main():
    order = rooms()
    wrong = included(order)
    found, files, count = used(order, sys.argv[1])
    wrong += found
    for line in wrong:
        print(f"check-rooms: {line}", file=sys.stderr)
    print(f"check-rooms: {files} files in {len(order)} rooms, {count} circles with a reason, {len(wrong)} wrong")
    sys.exit(bool(wrong))


main()
