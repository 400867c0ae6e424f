"""Adds to the symbol graphs what the place and the actor of a call mean, where a doc comment describes the other parameters: DocC asks for
all of them or none.

usage: parameters.py GRAPHS
"""

import json
import pathlib
import re
import sys

MEANINGS = {
    "fileID": "The file of the call, which reports name.",
    "filePath": "The path of this file, for the test's issue.",
    "file": "The file of the call, which reports name.",
    "line": "The line of the call, which reports name.",
    "column": "The column of the call, for the test's issue.",
    "isolation": "The actor of the code that calls, on which the closure is called.",
}

for path in pathlib.Path(sys.argv[1]).rglob("*.symbols.json"):
    graph = json.loads(path.read_text())
    for symbol in graph["symbols"]:
        lines = symbol.get("docComment", {}).get("lines", [])
        start = next((index for index, line in enumerate(lines) if re.match(r"- Parameters?\b", line["text"])), None)
        if start is None:
            continue
        end = start + 1
        while end < len(lines) and re.match(r"\s+\S|- Parameter ", lines[end]["text"]):
            end += 1
        described = set(re.findall(r"- (?:Parameter )?(\w+):", "\n".join(line["text"] for line in lines[start:end])))
        form = "  - {}: {}" if lines[start]["text"].startswith("- Parameters:") else "- Parameter {}: {}"
        names = [each["name"] for each in symbol.get("functionSignature", {}).get("parameters", [])]
        lines[end:end] = [lines[end - 1] | {"text": form.format(name, MEANINGS[name])}
                          for name in names if name in MEANINGS.keys() - described]
    path.write_text(json.dumps(graph))
