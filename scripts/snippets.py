"""Extracts the code blocks of the guides, and inserts them into the programs of Tests/Snippets.

usage: snippets.py OUT

A block of code in a guide is named by the comment before it: <!-- code: name -->. A program of Tests/Snippets/GUIDE has a line where it
is inserted:

    // snippet: name         the whole block
    // declarations: name    only its types, functions and imports
    // statements: name      only the rest
    // prints: name, name    the output that comments in the blocks describe, as an array of strings, in Swift after "=="

The programs of Tests/Tutorials become one program for each step, in OUT/tutorials: Tests/Tutorials/README.md describes their marks.
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GUIDES = [ROOT / "README.md", *sorted((ROOT / "Documentation").glob("*.md"))]
TUTORIALS = sorted((ROOT / "Tests/Tutorials").glob("*.swift"))
LANGUAGES = ("swift", "c", "cpp")
# The beginning of a top-level declaration. It ends with a brace in the first column, or with its line.
DECLARATION = re.compile(r"(@\w+|import |(public |private |final |open |nonisolated\(unsafe\) private let |extension |typedef |static )|"
                         r"(class|struct|enum|func|protocol) )")


class Wrong(Exception):
    pass


def blocks(guide):
    """Returns (name, language, lines) of each block of code; the name is None if there is no comment."""
    name, code, language, lines = None, None, None, guide.read_text().splitlines()
    previous = ""
    for number, line in enumerate(lines, 1):
        if code is None:
            if match := re.fullmatch(r"<!-- code: (.+) -->", line):
                name = match[1]
            elif match := re.fullmatch(r"```(\w+)", line):
                language, code, start = match[1], [], number
            elif line.strip() and not line.startswith("<!--"):
                name, previous = None, line
        elif line == "```":
            # In the tables of the porting guide, Apple's code is on the left.
            foreign = name is None and previous.startswith("<tr><td")
            yield name, language, code, start, foreign
            name, code, previous = None, None, ""
        else:
            code.append(line)


def parts(code):
    """Splits a block into declarations and statements."""
    declarations, statements, depth = [], [], 0
    inside = False
    for line in code:
        if not inside and (DECLARATION.match(line)):
            inside, depth = True, 0
        if not inside:
            statements.append(line)
            continue
        declarations.append(line)
        depth += len(re.findall(r"[{(\[]", line)) - len(re.findall(r"[})\]]", line))
        if depth == 0 and not line.startswith("@") and line.strip():
            inside = False
    return declarations, statements


def printed(code):
    """Returns the output that the comments describe: "// prints: one, then: another (why)"."""
    for line in code:
        if match := re.search(r"//.*?prints: (.*)", line):
            yield from re.sub(r" \([^()]*\)$", "", match[1]).split(", then: ")


def filled(template, code):
    """Returns the program with the blocks inserted, and the names of these blocks."""
    lines, used = [], set()

    def block(name):
        if name not in code:
            raise Wrong(f"{template}: the guide has no code named \"{name}\"")
        return code[name]

    for line in template.read_text().splitlines():
        match = re.fullmatch(r"(\s*)// (snippet|declarations|statements|prints): (.+)", line)
        if not match:
            lines.append(line)
            continue
        indentation, what, name = match.groups()
        if what == "prints":
            texts = [text for each in name.split(", ") for text in printed(block(each))]
            lines.append(f"{indentation}{'== ' if template.suffix == '.swift' else ''}{json.dumps(texts, ensure_ascii=False)}")
            continue
        used.add(name)
        wanted = block(name) if what == "snippet" else parts(block(name))[what == "statements"]
        lines += [indentation + text if text else "" for text in wanted]
    return "\n".join(lines) + "\n", used


def steps(program):
    """Returns the lines of a tutorial's program at each of its steps, and the fault that ends the step, or None."""
    lines = program.read_text().splitlines()[1:]
    marks = [re.fullmatch(r"\s*// (?:(?:from (\d+))?(?: ?until (\d+))?|end)", line) for line in lines]
    last = max([int(mark[1]) for mark in marks if mark and mark[1]] + [int(mark[2]) for mark in marks if mark and mark[2]])
    for step in range(1, last + 1):
        shown, first, end, fault = [], 1, last + 1, None
        for line, mark in zip(lines, marks):
            if mark:
                first, end = int(mark[1] or 1), int(mark[2] or last + 1)
            elif first <= step < end:
                if ends := re.search(r"  // until (\d+): ends with (KVO\d+)$", line):
                    fault, line = ends[2] if step < int(ends[1]) else None, line[:ends.start()]
                shown.append(line)
        yield shown, fault


def tutorials(out):
    """Writes main.swift of each step, and beside it what it prints or the fault that ends it."""
    count = 0
    for program in TUTORIALS:
        for step, (lines, fault) in enumerate(steps(program), 1):
            folder = out / program.stem / str(step)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "main.swift").write_text("\n".join(lines) + "\n")
            (folder / "expected.json").write_text(json.dumps([fault] if fault else list(printed(lines))))
            count += 1
    print(f"snippets: {count} steps of {len(TUTORIALS)} tutorials are programs")


def main(out):
    out = pathlib.Path(out)
    tutorials(out / "tutorials")
    count = 0
    for guide in GUIDES:
        code, known = {}, set()
        for name, language, lines, number, foreign in blocks(guide):
            if language not in LANGUAGES or foreign:
                continue
            where = f"{guide.relative_to(ROOT)}:{number}"
            if name is None:
                raise Wrong(f"{where}: this code has no name, so nothing runs it: <!-- code: NAME --> before it")
            if name in code:
                raise Wrong(f"{where}: there are two blocks named \"{name}\"")
            code[name] = lines
        for template in sorted((ROOT / "Tests/Snippets" / guide.stem).glob("*")):
            text, used = filled(template, code)
            known |= used
            target = out / guide.stem / template.name
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists() or target.read_text() != text:
                target.write_text(text)
        if code.keys() - known:
            raise Wrong(f"{guide.relative_to(ROOT)}: nothing runs {sorted(code.keys() - known)}: name it in a program of Tests/Snippets/{guide.stem}")
        count += len(code)
    print(f"snippets: {count} blocks of code of {len(GUIDES)} guides are in programs")


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except Wrong as error:
        sys.exit(f"snippets: {error}")
