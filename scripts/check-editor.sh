#!/usr/bin/env bash
# Checks what an editor shows in a program that uses the library, by sourcekit-lsp: completions without the names that are public only for
# the macro, and an example in the text of each common method. Tests/Editor/program.txt is the program.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/require.sh swift python3

scripts/quietly.sh check-editor swift build --scratch-path .build
bin=$(realpath "$(swift build --scratch-path .build --show-bin-path)")
scripts/editor.py Tests/Editor/program.txt -swift-version 6 -I "$bin/Modules" -I "$PWD/CShim/include" \
  -I "$PWD/Sources/CSwiftRuntime/include" -load-plugin-executable "$bin/KeyValueObservingMacros-tool#KeyValueObservingMacros" |
  python3 -c '
import json, sys

# Members that a class with the macro must have: the header, the requirement of the protocol, and the methods that subclasses override.
needed = {"_$kvo", "__keyValueObject", "__keyValueProperties", "__describeKeyValueProperties"}
# Behind each, these must be offered.
offered = {"object": "onChange", "subclass": "addObserver", "token": "invalidate", "type": "init"}
failed = asked = 0
for line in sys.stdin:
    answer = json.loads(line)
    asked += 1
    name, shown = answer["name"], answer["shown"]
    if answer["kind"] == "complete":
        names = {label.split("(")[0] for label in shown}
        hidden = {label for label in names if label.startswith("_")} - needed
        problem = f"offers {sorted(hidden)}" if hidden else None if offered[name] in names else "does not offer " + offered[name]
    else:
        # The first block of code is the declaration, the next ones are examples.
        problem = "shows nothing" if not shown else None if shown.count("```") >= 4 else "shows no example"
    if problem:
        failed += 1
        print(f"check-editor: {name} {problem}")
print(f"check-editor: {asked - failed} passed, {failed} failed")
sys.exit(failed > 0 or asked < 20)'
