"""Groups the members of a type that several folders of the sources extend, by these folders, which have a topic each.

usage: topics.py GRAPHS CATALOGUE

Writes an extension of the type's page for each such type, without which DocC lists its members by their kind only.
"""

import collections
import json
import pathlib
import sys

TITLES = {
    "Observing": "Observing", "Receivers": "Receivers", "Delivery": "Delivery",
    "ValueSources": "Sources", "Bindings": "Bindings", "Streams": "Streams and views", "Coding": "Key-value coding",
    "Collections": "Collections", "Model": "Classes and properties", "RuntimeClasses": "Objects of C programs",
    "Diagnostics": "Diagnostics", "Support": "Support", "Macros": "For the macro",
}
FEWEST = 12


def disambiguation(identifier):
    """What DocC writes after the name of a symbol that shares it with others: a hash of its identifier."""
    value = 2166136261
    for byte in identifier.encode():
        value = value * 16777619 % 2**32 ^ byte
    value, text = value >> 24 ^ value & 0xFFFFFF, ""
    while value:
        text, value = "0123456789abcdefghijklmnopqrstuvwxyz"[value % 36] + text, value // 36
    return text


def main(graphs, catalogue):
    graph = json.loads((pathlib.Path(graphs) / "KeyValueObserving.symbols.json").read_text())
    members = collections.defaultdict(lambda: collections.defaultdict(list))
    for symbol in graph["symbols"]:
        *owner, name = symbol["pathComponents"]
        if len(owner) != 1 or name.startswith("_") or "location" not in symbol or "::SYNTHESIZED::" in symbol["identifier"]["precise"]:
            continue
        folder = pathlib.Path(symbol["location"]["uri"]).parent.name
        members[owner[0]][folder].append((name, f"-{disambiguation(symbol['identifier']['precise'])}"))
    made = 0
    for owner, folders in members.items():
        if len(folders) < 2 or sum(map(len, folders.values())) < FEWEST:
            continue
        lines = [f"# ``{owner}``", "", "## Topics"]
        for folder in sorted(folders, key=list(TITLES).index):
            lines += ["", f"### {TITLES[folder]}", ""]
            names = [name for name, _ in folders[folder]]
            # Overloads are one row.
            lines += sorted({f"- ``{owner}/{name}{hash if names.count(name) == 1 else ''}``" for name, hash in folders[folder]})
        (pathlib.Path(catalogue) / f"{owner}-topics.md").write_text("\n".join(lines) + "\n")
        made += 1
    print(f"topics: the members of {made} types")


main(*sys.argv[1:])
