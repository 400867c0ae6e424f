"""Extracts the examples of the doc comments of the library into one program, which has to compile: scripts/check-snippets.sh.

usage: comments.py OUT

Each example becomes a class that derives from Context of Tests/Snippets/Comments, in which the objects are declared that examples use.
Its declarations are members of the class, its statements a function.
"""

import pathlib
import re
import sys

import snippets

SOURCES = ("KeyValueObserving", "KeyValueObservingTesting")
# Examples that are parts of a declaration, by their first word.
PARTS = {
    "set": "var title: String {\n  get { _title }\n%s\n}",
    "_modify": "var title: String {\n  get { _title }\n%s\n}",
    "deinit": "%s",
    "nonisolated(unsafe)": "%s",
    "func": "@KeyValueObservable\nfinal class Answers {\n  var question = 0\n%s\n}",
}


def examples():
    """Returns the place and the lines of each example."""
    for module in SOURCES:
        for path in sorted((snippets.ROOT / "Sources" / module).rglob("*.swift")):
            code = None
            if "#if OpenCombine" in path.read_text():
                continue  # Tests/Clients/Streams compiles the trait's code
            for number, line in enumerate(path.read_text().splitlines(), 1):
                text = match[1] if (match := re.match(r"\s*/// ?(.*)", line)) else None
                if text is None:
                    code = None
                elif code is None and text == "```swift":
                    code = []
                elif code is not None and text == "```":
                    yield path, number, code
                    code = None
                elif code is not None:
                    code.append(text)


def main(out):
    lines, count = ["// Made by scripts/comments.py.", "import CKVO", "import Foundation", "import KeyValueObserving", "import KeyValueObservingTesting",
                    "import Observation", "import Testing", "import XCTest"], 0
    for path, number, code in examples():
        count += 1
        where = f"#sourceLocation(file: \"{path.relative_to(snippets.ROOT)}\", line: {number - len(code)})"
        if part := PARTS.get(code[0].split()[0]):
            members, statements = part % "\n".join(code), []
        else:
            declared, statements = snippets.parts(code)
            members = "\n".join(declared)
        lines += ["", f"final class Example{count}: Context {{", where, members, "  func run() async throws {", where, *statements, "#sourceLocation()", "  }", "}"]
    out = pathlib.Path(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("\n".join(lines) + "\n")
    print(f"comments: {count} examples of doc comments are in a program")


main(*sys.argv[1:])
