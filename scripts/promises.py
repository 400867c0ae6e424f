#!/usr/bin/env python3
"""Checks Documentation/Promises.md: each promise of the guides that it covers stands there, by its first words, with tests that exist."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
documents = root / "Documentation"
faults = []


def normal(text):
    return " ".join(text.split())


def promises(guide):
    """Returns the items of the guide's lists, up to what is not promised."""
    items, is_code = [], False
    for line in (documents / guide).read_text().split("## Not promised")[0].splitlines():
        is_code ^= line.startswith("```")
        if line.startswith("- ") and not is_code:
            items.append(line[2:])
        elif line.startswith("  ") and items and not is_code:
            items[-1] += " " + line
    return [normal(item) for item in items]


def has_test(path, name):
    """A test is TEST("sentence") in C, func `sentence` or @Test("sentence") in Swift, and in a client's program the message of a check."""
    file = root / path
    if not file.is_file():
        return False
    text = normal(file.read_text()).replace("( ", "(")
    if path.startswith("Tests/Clients/") and f'"{name}"' in text:
        return True
    if path.endswith(".c"):
        return any(f'{macro}("{name}")' in text for macro in ("TEST", "TEST_REPORTED"))
    return any(form in text for form in (f"func `{name}`(", f'@Test("{name}")', f'@Test("{name}", arguments:'))


guide, stated, tests, text = "", {}, 0, ""
for line in (documents / "Promises.md").read_text().splitlines():
    if match := re.fullmatch(r"## \[(.+)\]\(\1\)", line):
        guide = match[1]
        stated[guide] = []
    elif line.startswith("- "):
        text = normal(line[2:])
        stated[guide].append(text)
        if not any(promise.startswith(text) for promise in promises(guide)):
            faults.append(f"{guide} does not promise: {text}")
    elif match := re.fullmatch(r"  - `([^`]+)`: (.+)", line):
        tests += 1
        if not has_test(match[1], match[2]):
            faults.append(f'{match[1]} has no test "{match[2]}", which Promises.md names for: {text}')
for guide, texts in stated.items():
    for promise in promises(guide):
        if not any(promise.startswith(text) for text in texts):
            faults.append(f"Promises.md names no test for a promise of {guide}: {promise[:100]}")

for fault in faults:
    print(f"promises: {fault}", file=sys.stderr)
if not tests or faults:
    sys.exit(1)
print(f"promises: {sum(map(len, stated.values()))} promises have {tests} tests")
