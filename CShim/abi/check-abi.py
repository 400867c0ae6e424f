#!/usr/bin/env python3
"""Compares the C API with that of the last blessed version: Documentation/ABI.md says what may change. Its stable headers, without
comments, are blessed.h and blessed.hpp beside this file, its symbols blessed.txt.

  check-abi.py COMPILER LIBRARY            fails if a program built with the blessed headers could not run with LIBRARY
  check-abi.py COMPILER LIBRARY --bless    makes the present headers and symbols the blessed ones
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

abi = pathlib.Path(__file__).resolve().parent
present = abi.parent / "include"
# Any minor version may change these.
unstable = {"kvo_binding.h", "kvo_raise.h", "kvo_track.h", "kvo_values.h"}
# Structures that callers allocate in arrays or embed, or get in arrays: their size is part of the interface.
frozen = {
    "kvo_object", "kvo_value", "kvo_fault_kind", "kvo_fault_site", "kvo_fault_observation", "kvo_fault_step", "kvo_event",
    "kvo_graph_object", "kvo_graph_observation", "kvo_graph_edge", "kvo_scope", "kvo_frame", "kvo_selection",
    "kvo_value_ops", "kvo_observer_ops", "kvo_observer_identity",
}


def flattened(name, seen):
    """A header without comments, with those of the library that it includes and that are not in `seen`."""
    if name in seen:
        return ""
    seen.add(name)
    text = (present / "kvo" / name).read_text()
    # A comment, or a string, which may look as if it had one.
    text = re.sub(r'("(?:\\.|[^"\\\n])*")|/\*.*?\*/|//[^\n]*', lambda match: match[1] or "", text, flags=re.S)
    text = re.sub(r"[ \t]*\n(?:[ \t]*\n)*", "\n", text).lstrip()
    return re.sub(r"^#include <kvo/(.*)>\n", lambda match: flattened(match[1], seen), text, flags=re.M)


def headers():
    """The present stable headers as one, and kvo.hpp, which includes it."""
    stable = [header.name for header in sorted((present / "kvo").glob("*.h")) if header.name not in unstable]
    seen = set()
    c = "".join(flattened(name, seen) for name in stable)
    return c, '#include "blessed.h"\n' + flattened("kvo.hpp", seen)


def joined(text):
    """The text with each macro on one line."""
    return text.replace("\\\n", " ")


def structures(text):
    """The members of each structure, by its name."""
    found = {}
    for name, body in re.findall(r"typedef struct (\w+) \{(.*?)\n\} \1;", text, flags=re.S):
        members = []
        for declaration in body.split(";"):
            declaration = declaration.strip()
            function = re.search(r"\(\s*\*\s*(?:KVO_\w+\s+)?(\w+)\s*\)\s*\(", declaration)
            if function:
                members.append(function.group(1))
            elif declaration:
                for part in declaration.split(","):
                    members.append(re.search(r"(\w+)\s*(?:\[.*\])?$", part.strip()).group(1))
        found[name] = members
    return found


def constants(text):
    """The names of all enumerators."""
    names = set(re.findall(r"\bX\((KVO_\w+),", text))
    for body in re.findall(r"\benum(?: \w+)? \{(.*?)\}", text, flags=re.S):
        names |= set(re.findall(r"\b(KVO_\w+)\s*=", body))
    return sorted(names)


def declarations(text):
    """The declaration of each function, by its name, without what does not concern a binary."""
    text = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("#"))
    text = re.sub(r"\bKVO_(NULLABLE|NONNULL|SITE)\b|\bKVO_SITED\([^)]*\)", " ", text)
    found = {}
    for declaration in re.findall(r"KVO_API\s+([^;{]*?)\s*;", text):
        plain = re.sub(r"\s+", " ", declaration)
        plain = re.sub(r"\s*([*(),])\s*", r"\1", plain)
        found[re.search(r"\b(kvo_\w+)(\(|$)", plain).group(1)] = plain
    return found


def measure(compiler, text, wanted, names):
    """Sizes, offsets and values, as the compiler sees them."""
    lines = [text, "#include <stdio.h>", "int main(void) {"]
    for name, members in wanted.items():
        lines.append(f'  printf("sizeof {name} %zu\\n", sizeof({name}));')
        for member in members:
            lines.append(f'  printf("{name}.{member} %zu\\n", offsetof({name}, {member}));')
            lines.append(f'  printf("size of {name}.{member} %zu\\n", sizeof((({name} *)0)->{member}));')
    lines += [f'  printf("{name} %lld\\n", (long long){name});' for name in names]
    lines += ["  return 0;", "}"]
    with tempfile.TemporaryDirectory() as work:
        source, program = pathlib.Path(work, "measure.c"), pathlib.Path(work, "measure")
        source.write_text("\n".join(lines))
        # The variables are set by scripts/check-ports.sh.
        links = os.environ.get("LDFLAGS", "").split()
        subprocess.run([compiler, "-std=c11", "-w", str(source), "-o", str(program), *links], check=True)
        emulator = os.environ.get("KVO_TEST_EMULATOR", "").split()
        output = subprocess.run([*emulator, str(program)], check=True, capture_output=True, text=True).stdout
    return dict(line.rsplit(" ", 1) for line in output.splitlines())


def symbols(library):
    output = subprocess.run(["nm", "-D", "--defined-only", "--extern-only", "--format=posix", library], check=True,
                            capture_output=True, text=True).stdout
    return sorted(line.split()[0] for line in output.splitlines() if line.startswith("kvo_"))


def uses_of_unstable(exported):
    """What is built apart from the library, and uses an unstable header or one of its functions."""
    problems = []
    for header in sorted((present / "kvo" / "cxx").glob("*.hpp")):
        for name in re.findall(r"#include <kvo/(\w+\.h)>", header.read_text()):
            if name in unstable:
                problems.append(f"{header.name} includes {name}, which any version may change")
    stable = declarations(joined(headers()[0]))
    bindings = abi.parent.parent / "bindings"
    for source in sorted([*bindings.rglob("*.py"), *bindings.rglob("*.c"), *bindings.rglob("*.h")]):
        for name in sorted(set(re.findall(r"\bkvo_\w+", source.read_text())) & (exported - set(stable))):
            problems.append(f"{source.relative_to(bindings.parent)} uses {name}, which any version may change")
    return problems


def compare(compiler, library):
    texts = (abi / "blessed.h").read_text(), headers()[0]
    before, now = map(joined, texts)
    problems = []
    wanted, names = structures(before), constants(before)
    old = measure(compiler, texts[0], wanted, names)
    now_structures, now_constants = structures(now), set(constants(now))
    for name, members in wanted.items():
        gone = set(members) - set(now_structures.get(name, []))
        if gone:
            problems.append(f"{name}: {', '.join(sorted(gone))} is gone")
    gone = set(names) - now_constants
    problems += [f"{name} is gone" for name in sorted(gone)]
    if not problems:
        new = measure(compiler, texts[1], wanted, names)
        for what, value in old.items():
            structure = what.split()[-1] if what.startswith("sizeof ") else None
            grown = structure is not None and structure not in frozen and int(new[what]) > int(value)
            if new[what] != value and not grown:
                problems.append(f"{what} was {value} and is {new[what]}")
    new_declarations = declarations(now)
    for name, declaration in declarations(before).items():
        if new_declarations.get(name) != declaration:
            problems.append(f"{name} was declared\n    {declaration}\n  and is\n    {new_declarations.get(name, '(gone)')}")
    exported = set(symbols(library))
    problems += uses_of_unstable({symbol.split("@")[0] for symbol in exported})
    for symbol in (abi / "blessed.txt").read_text().split():
        if symbol not in exported:
            problems.append(f"the symbol {symbol} is gone")
    return problems


def bless(library):
    c, cxx = headers()
    (abi / "blessed.h").write_text(c)
    (abi / "blessed.hpp").write_text(cxx)
    stable = declarations(joined(c))
    # Those of the unstable headers are not promised.
    kept = [symbol for symbol in symbols(library) if symbol.split("@")[0] in stable]
    (abi / "blessed.txt").write_text("\n".join(kept) + "\n")


def main():
    compiler, library = sys.argv[1:3]
    if sys.argv[3:] == ["--bless"]:
        bless(library)
        return 0
    problems = compare(compiler, library)
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        print("a program built with the blessed headers cannot run with this library: Documentation/ABI.md", file=sys.stderr)
    return 1 if problems else 0


sys.exit(main())
