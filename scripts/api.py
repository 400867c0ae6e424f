"""Checks the public API of the Swift modules: lists it from their symbol graphs and those of their extensions of other modules' types,
compares the list with a file, and finds symbols without a doc comment.

usage: api.py FOLDER BASELINE [--bless]

A name that begins with an underscore is public only for generated code. It is not part of the API and is omitted.
"""

import difflib
import json
import pathlib
import sys

# Members that a protocol of the standard library requires and documents.
STANDARD = {"rawValue", "init(rawValue:)", "description", "debugDescription", "hash(into:)", "encode(to:)", "init(from:)"}

# Protocols that nearly every type conforms to implicitly.
EVERYWHERE = {"Swift.Copyable", "Swift.Escapable", "Swift.SendableMetatype"}


def is_api(symbol):
    hidden = any(name.startswith("_") for name in symbol["pathComponents"])
    return not hidden and "::SYNTHESIZED::" not in symbol["identifier"]["precise"]


def signature(symbol):
    fragments = "".join(fragment["spelling"] for fragment in symbol["declarationFragments"])
    # An attached macro lists the names that it adds; for users only the macro is API.
    text = " ".join(fragments.split())
    if symbol["kind"]["identifier"] == "swift.macro":
        text = text[text.rindex("macro ") :]
    if symbol["accessLevel"] == "open":
        text = "open " + text
    owner = ".".join(symbol["pathComponents"][:-1])
    constraints = symbol.get("swiftExtension", {}).get("constraints", [])
    where = " where " + ", ".join(f"{c['lhs']}: {c['rhs']}" for c in constraints) if constraints else ""
    return f"{owner + ': ' if owner else ''}{text}{where}"


def conformances(graph, names):
    for relation in graph["relationships"]:
        source, target = names.get(relation["source"]), relation.get("targetFallback") or names.get(relation["target"])
        if relation["kind"] not in ("conformsTo", "inheritsFrom") or source is None or target is None:
            continue
        if target.rsplit(".", 1)[-1].startswith("_") or target in EVERYWHERE:
            continue
        yield f"{source} : {target}"


def main(graph_path, baseline_path, *options):
    graph = {"symbols": [], "relationships": []}
    for path in sorted(pathlib.Path(graph_path).glob("*/*.symbols.json")):
        one = json.loads(path.read_text())
        graph = {part: graph[part] + one[part] for part in graph}
    symbols = [symbol for symbol in graph["symbols"] if is_api(symbol)]
    names = {symbol["identifier"]["precise"]: ".".join(symbol["pathComponents"]) for symbol in symbols}
    present = sorted({*map(signature, symbols), *conformances(graph, names)})
    failed = False

    defaults = {r["source"] for r in graph["relationships"] if r["kind"] == "defaultImplementationOf"}
    for symbol in symbols:
        fulfils = symbol["pathComponents"][-1] in STANDARD or symbol["identifier"]["precise"] in defaults
        if "docComment" in symbol or fulfils:
            continue
        failed = True
        location = symbol.get("location", {})
        place = location.get("uri", "").split("/Sources/")[-1]
        line = location.get("position", {}).get("line", -1) + 1
        print(f"Sources/{place}:{line}: '{'.'.join(symbol['pathComponents'])}' has no doc comment", file=sys.stderr)

    baseline = pathlib.Path(baseline_path)
    if "--bless" in options:
        baseline.write_text("\n".join(present) + "\n")
        print(f"{baseline}: {len(present)} lines written")
    elif not baseline.exists():
        failed = True
        print(f"{baseline} is missing; write it with scripts/check-api.sh --bless", file=sys.stderr)
    else:
        accepted = baseline.read_text().splitlines()
        difference = list(difflib.unified_diff(accepted, present, str(baseline), "the sources", lineterm="", n=0))
        if difference:
            failed = True
            print("\n".join(difference))
            print("the public API has changed; to accept the change, run scripts/check-api.sh --bless", file=sys.stderr)
    if not failed:
        print(f"API: {len(present)} lines, as in {baseline}; every public symbol has a doc comment")
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
