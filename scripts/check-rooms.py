"""Checks that each room of CShim/src uses only rooms above it in CShim/src/README.md, by the includes of its files and by the undefined
symbols of its objects; and that the files of a room use each other in no circle unless the room's header gives the reason."""

import collections
import graphlib
import pathlib
import re
import subprocess
import sys

SOURCES = pathlib.Path("CShim/src")
ROOMS = re.findall(r"^\| `([a-z]+)/` \|", (SOURCES / "README.md").read_text(), re.M)
# What a room may use of the files that are in no room; and any room may raise a fault.
SHARED = re.compile(r"hooks\.h|kvo__hooks|kvo__attention|kvo__fault_\w+")


def place(path):
    """The rank of a file's room; that of a file in no room is above all, as only runtime.c knows the rooms."""
    return ROOMS.index(path.parts[0]) if len(path.parts) > 1 else -1


def included():
    """Yields a file, one that it includes, and its name."""
    for path in sorted(SOURCES.rglob("*.[ch]")):
        for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M):
            yield path.relative_to(SOURCES), pathlib.Path(name), name


def used(objects):
    """Yields a source, another whose symbol it uses, and the symbol."""
    defined, undefined = {}, []
    for path in sorted(pathlib.Path(objects).rglob("*.o")):
        source = path.relative_to(objects).with_suffix("")
        if not (SOURCES / source).exists():
            continue  # of a file that was there at an earlier build
        listing = subprocess.run(["nm", "-P", path], capture_output=True, text=True, check=True).stdout
        for name, kind, *_ in map(str.split, listing.splitlines()):
            if kind == "U":
                undefined.append((source, name))
            elif kind in "TDBRCVW":
                defined[name] = source
    return [(source, defined[name], name) for source, name in undefined if name in defined]


def circles(uses):
    """Yields the circles between the files of a room for which no header has a line such as " * circle: a.c, b.c: the reason"."""
    headers = "".join(path.read_text() for path in SOURCES.rglob("*.h"))
    explained = [set(re.findall(r"\w+\.c", names)) for names in re.findall(r"^ \* circle: ([\w., ]+):", headers, re.M)]
    graphs = collections.defaultdict(lambda: collections.defaultdict(set))
    for source, other, _ in uses:
        is_explained = any({source.name, other.name} <= names for names in explained)
        if place(source) == place(other) >= 0 and source != other and not is_explained:
            graphs[place(source)][source].add(other)
    for graph in graphs.values():
        try:
            graphlib.TopologicalSorter(graph).prepare()
        except graphlib.CycleError as error:
            yield " -> ".join(map(str, error.args[1]))


def main(objects):
    folders = sorted(path.name for path in SOURCES.iterdir() if path.is_dir())
    if sorted(ROOMS) != folders:
        sys.exit(f"check-rooms: README.md lists {sorted(ROOMS)}, but there are {folders}")
    uses = used(objects)
    wrong = []
    for source, other, name in [*included(), *uses]:
        if source.name == "runtime.c" or SHARED.fullmatch(name):
            continue
        if place(source) < place(other) and not (place(source) < 0 and other.parts[0] == "platform"):
            wrong.append(f"{source} uses {name}, which is of a room further down")
        elif place(source) >= 0 > place(other):
            wrong.append(f"{source} uses {name} of {other}: only the table of hooks may be known")
    wrong += [f"{each} use each other, and no header of the room says why: \" * circle: …\"" for each in circles(uses)]
    print(*(f"check-rooms: {line}" for line in wrong), sep="\n", end="\n" if wrong else "", file=sys.stderr)
    print(f"check-rooms: {len({source for source, _, _ in uses})} files in {len(ROOMS)} rooms, {len(wrong)} wrong")
    sys.exit(bool(wrong))


main(*sys.argv[1:])
