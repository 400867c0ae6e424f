#!/usr/bin/env python3
"""Checks that each promise has a test that exists: those of the guides in Documentation/Promises.md, by their first words; the entries of
AppleCompatibility.md by their numbers in names of tests and in scenarios; and the rows of the crash catalogue, in Documentation/Faults."""
import functools
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
documents = root / "Documentation"
faults = []


def normal(text):
    return " ".join(text.split())


def numbered_tests():
    """Returns the entries of AppleCompatibility.md that a test in Tests/ConformanceTests or a scenario names by their number."""
    lists = []
    for path in (root / "Tests/ConformanceTests").glob("*.swift"):
        lists += re.findall(r"func `([0-9, ]+):", path.read_text())
    for path in (root / "Tools/Tests/ScenarioTests/Scenarios").glob("*.scenario"):
        lists += re.findall(r"^> # ([0-9, ]+):", path.read_text(), re.M)
    return {int(number) for numbers in lists for number in numbers.split(",")}


def entries():
    """Returns the entries of AppleCompatibility.md that no test names by their number."""
    numbered, found, seen = numbered_tests(), [], []
    for line in (documents / "AppleCompatibility.md").read_text().splitlines():
        if match := re.match(r"\| (\d+) \| ", line):
            seen.append(int(match[1]))
            row = re.fullmatch(r"\| \d+ \| ([^|]+) \| (same|differs on purpose: .+|no counterpart: .+|GNUstep only) \|", line)
            if not row:
                faults.append(f"AppleCompatibility.md: this is no row: {line}")
            elif row[2].startswith(("same", "differs")) and seen[-1] not in numbered:
                found.append(f"{seen[-1]}: {row[1]}")
    if sorted(seen) != list(range(1, 394)):
        faults.append(f"AppleCompatibility.md has {len(seen)} entries, and not each number from 1 to 393 once")
    return found


@functools.cache
def promises(guide):
    """Returns the items of the guide's lists, up to what is not promised."""
    if guide == "AppleCompatibility.md":
        return entries()
    items, is_code = [], False
    for line in (documents / guide).read_text().split("## Not promised")[0].splitlines():
        is_code ^= line.startswith("```")
        if line.startswith("- ") and not is_code:
            items.append(line[2:])
        elif line.startswith("  ") and items and not is_code:
            items[-1] += " " + line
    return [normal(item) for item in items]


def has_test(path, name):
    """A test is TEST("sentence") in C, func `sentence` or @Test("sentence") in Swift, the number of an entry in a scenario, and in a
    client's program the message of a check."""
    file = root / path
    if not file.is_file():
        return False
    text = normal(file.read_text()).replace("( ", "(")
    if path.endswith(".scenario"):
        return bool(re.search(rf"> # [0-9, ]*\b{name}\b[0-9, ]*:", text))
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

for row, path, name in re.findall(r"^\| (K\d+) \|.*\| `([^`]+/[^`]+)`: (.+) \|$", (documents / "Faults/README.md").read_text(), re.M):
    tests += 1
    if not has_test(path, name):
        faults.append(f'{path} has no test "{name}", which Faults/README.md names for {row}')

for fault in faults:
    print(f"promises: {fault}", file=sys.stderr)
if not tests or faults:
    sys.exit(1)
print(f"promises: {sum(map(len, stated.values()))} promises have {tests} tests")
