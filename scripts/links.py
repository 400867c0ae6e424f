"""Checks all documents of the repository: that no link to a file or a heading is dead, and that a check builds the code in them. In
README.md and Documentation/ also what prose and tables say in code: a call of one of our functions has labels that a function of this name
has (Documentation/api-baseline.txt), and a name of C exists.

usage: links.py

Code in Swift, C and C++ is built in the guides (snippets.py), on the pages of faults (Tests/FaultPageTests), and in the READMEs of the
bindings, whose tests also run Python and Lua; in that for GLib C is built and Python compiled. check-desktop.sh finds the blocks of
Examples/Desktop in its sources. In another document such a block has to be text, or to move.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"(!?)\[((?:[^\[\]`]|`[^`]*`)+)\]\(([^)\s]+)\)")
BUILT = re.compile(r"README\.md|Documentation/[^/]+\.md|Documentation/Faults/[^/]+\.md|bindings/(python|lua|glib)/README\.md|Examples/Desktop/README\.md")
LANGUAGES = {"swift", "c", "cpp", "c++", "python", "lua"}
NAMING = re.compile(r"README\.md|Documentation/.*\.md")
CALL = re.compile(r"(?<![\w@])([a-z]\w*)\(([^()]*)\)")
LABEL = re.compile(r"(?:^|[,:])\s*([a-z]\w*)(?=:)")
C_NAME = re.compile(r"\bkvo_[a-z0-9_]*[a-z0-9]\b(?!\*|…|_)")


def without_code(text):
    text = re.sub(r"^(`{3,}).*?^\1[^\n]*$", "", text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]+(?:\n[^`\n]+)?`", "", text)


def plain(heading):
    """A heading without what emphasizes or links it."""
    return re.sub(r"[`*]|\]\([^)]*\)|\[", "", heading).strip()


def slug(heading):
    """The anchor of a heading in a document: as GitHub and others make it."""
    return re.sub(r"[^\w\- ]", "", plain(heading).lower()).replace(" ", "-")


def anchors(path):
    """Returns {anchor: heading} of a document; the second of two equal anchors ends with -1."""
    found = {}
    for heading in re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", path.read_text(), flags=re.M | re.S), re.M):
        name, count = slug(heading), 0
        while (each := name if count == 0 else f"{name}-{count}") in found:
            count += 1
        found[each] = heading
    return found


def dead(document):
    """The links of a document that lead nowhere."""
    text = document.read_text()
    for _, _, target in LINK.findall(without_code(text)):
        if re.match(r"[a-z]+:|/", target):
            continue
        name, _, anchor = target.partition("#")
        path = (document.parent / name).resolve() if name else document
        if not path.exists():
            yield f"{target}: there is no such file"
        elif anchor and anchor not in anchors(path):
            yield f"{target}: there is no such heading"


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
    """Returns {function: the labels of each function of that name}, and the names of C."""
    functions = {}
    for line in (ROOT / "Documentation/api-baseline.txt").read_text().splitlines():
        if found := re.search(r"\b(?:func\s+(\w+)|(init))\??(?:<.*?>)?(?=\()", line):
            functions.setdefault(found[1] or found[2], []).append(parameters(line[found.end():]))
    sources = [*(ROOT / "CShim").rglob("*.[ch]"), *(ROOT / "CShim").rglob("*.hpp"), ROOT / "CShim/CMakeLists.txt"]
    return functions, set(re.findall(r"\bkvo_\w+", "".join(each.read_text() for each in sources)))


def unknown(document, functions, names):
    """What the pieces of code in the prose of a document name, and is not declared."""
    prose = re.sub(r"^ *```.*?^ *```", "", document.read_text(), flags=re.M | re.S)
    for found in re.finditer(r"`((?:[^`\n]|\n(?!\n))+)`", prose):
        piece = " ".join(found[1].split())
        for name, arguments in CALL.findall(piece):
            labels = set(LABEL.findall(arguments))
            if name in functions and not any(labels <= each for each in functions[name]):
                yield f"no {name} has these labels: {piece}"
        yield from (f"there is no {name}" for name in C_NAME.findall(piece) if name not in names)


def main():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    documents = [ROOT / name for name in sorted(listed.stdout.split()) if (ROOT / name).exists()]
    functions, names = declared()
    wrong, count = [], 0
    for document in documents:
        name = str(document.relative_to(ROOT))
        wrong += [f"{name}: {each}" for each in dead(document)]
        count += len(LINK.findall(without_code(document.read_text())))
        if NAMING.fullmatch(name):
            wrong += [f"{name}: {each}" for each in unknown(document, functions, names)]
        if not BUILT.fullmatch(name):
            languages = set(re.findall(r"^```(\S+)$", document.read_text(), re.M)) & LANGUAGES
            wrong += [f"{name}: no check builds its code in {language}" for language in sorted(languages)]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"links: {count} in {len(documents)} documents, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
