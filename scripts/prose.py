#!/usr/bin/env python3
"""Checks what the prose and the tables of the documents say in code: a call of one of our functions has labels that a function of this name
has (Documentation/api-baseline.txt), and a name of C exists. Blocks of code are compiled by check-snippets.sh.

    scripts/prose.py    from the root of the repository
"""
import pathlib
import re
import sys

CALL = re.compile(r"(?<![\w@])([a-z]\w*)\(([^()]*)\)")
LABEL = re.compile(r"(?:^|[,:])\s*([a-z]\w*)(?=:)")
C_NAME = re.compile(r"\bkvo_[a-z0-9_]*[a-z0-9]\b(?!\*|…|_)")


def parameters(signature):
    """The labels of a declaration, given from its opening parenthesis on."""
    depth, part, parts = 0, "", []
    for character in signature.replace("->", ""):
        depth += (character in "([{<") - (character in ")]}>")
        if depth == 0:
            break
        if character == "," and depth == 1:
            parts.append(part)
            part = ""
        elif part or character != "(":
            part += character
    return {each.split(":")[0].split()[0] for each in parts + [part] if each.strip()}


def declared():
    functions = {}
    for line in pathlib.Path("Documentation/api-baseline.txt").read_text().splitlines():
        found = re.search(r"\b(?:func\s+(\w+)|(init))\??(?:<.*?>)?(?=\()", line)
        if found:
            functions.setdefault(found[1] or found[2], []).append(parameters(line[found.end():]))
    return functions


def prose(path):
    """The pieces of code in a document that are not in a block of code, with their lines."""
    text, is_code = "", False
    for line in path.read_text().splitlines():
        is_code ^= line.lstrip().startswith("```")
        text += "\n" if is_code or line.lstrip().startswith("```") else line + "\n"
    for found in re.finditer(r"`((?:[^`\n]|\n(?!\n))+)`", text):
        yield text.count("\n", 0, found.start()) + 1, " ".join(found[1].split())


def main():
    functions, wrong = declared(), []
    sources = [*pathlib.Path("CShim").rglob("*.[ch]"), *pathlib.Path("CShim").rglob("*.hpp"), pathlib.Path("CShim/CMakeLists.txt")]
    names = set(re.findall(r"\bkvo_\w+", "".join(each.read_text() for each in sources)))
    for path in [pathlib.Path("README.md"), *sorted(pathlib.Path("Documentation").rglob("*.md"))]:
        for number, piece in prose(path):
            for name, arguments in CALL.findall(piece):
                labels = set(LABEL.findall(arguments))
                if name in functions and not any(labels <= each for each in functions[name]):
                    wrong.append(f"{path}:{number}: no {name} has these labels: {piece}")
            wrong += [f"{path}:{number}: there is no {name}" for name in C_NAME.findall(piece) if name not in names]
    print(*wrong, sep="\n", file=sys.stderr)
    return bool(wrong)


sys.exit(main())
