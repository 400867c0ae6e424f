"""Prints a header of libkvo for Doxygen: its comments are plain text with `code`, lists and indented examples, and have no commands.

usage: plain.py HEADER                  (INPUT_FILTER of the Doxyfile)

The file's first comment becomes that of the file. The comment of a function is also that of the functions that follow it immediately
without one; the comment of an array, a text or a file is also that of its count, length or line. Lines keep their numbers.
"""

import re
import sys

FUNCTION = re.compile(r"KVO_API .*?\b(kvo_\w+)\(")
MEMBER = re.compile(r"  \w.*?(?:\(\*[A-Z_ ]*(\w+)\)\(|(\w+)(?:\[\w+\])?;$)")
SHARED = re.compile(r"\w+_count|\w+_length|line|property_size")


def plain(comment):
    """Escapes what Doxygen would take for commands, tags or emphasis, except in examples, `code` and "quotes", where it takes nothing."""
    parts = re.split(r"(^ \*     .*$|`[^`]*`|\"[^\"]*\"|^\s*/?\*+(?!/)|\*/)", comment, flags=re.M)
    for index, part in enumerate(parts):
        parts[index] = re.sub(r"[@<>#\\&*]", r"\\\g<0>", part) if index % 2 == 0 else part.replace("%", "%%") if part[:1] == "`" else part
    return "".join(parts)


def main(path):
    source = open(path).read().split("\n")
    if first := re.match(r"/\* (\S+) - (.*)", source[0]):
        source[0] = f"/** {first[2]}"
    out, index, structure, described = [], 0, "", ""
    while index < len(source):
        line = source[index]
        if re.match(r"\s*/\*\*", line):
            end = next(i for i in range(index, len(source)) if "*/" in source[i])
            out += plain("\n".join(source[index:end + 1])).split("\n")
            index, described = end + 1, "next"
            continue
        if opened := re.match(r"typedef struct (\w+) \{", line):
            structure, described = opened[1], ""
        elif re.match(r"\S", line) and not line.startswith("KVO_API"):
            structure, described = "", ""
        elif not line.strip():
            described = ""
        elif path.endswith(".h") and (match := MEMBER.match(line) if structure else FUNCTION.match(line)):
            name = match[1] or match[2]
            if described == "next":
                described = f"{structure}::{name}" if structure else name
            elif described and (not structure or SHARED.fullmatch(name)):
                line = f"/** @copydoc {described} */ {line.lstrip()}"
            else:
                described = ""
        out.append(line)
        index += 1
    if first:
        out[0] = f"/** @file {first[1]}\\n{out[0][3:]}".replace("\\n", " @brief", 1)
    if path.endswith("/kvo.h"):
        out.append("/** @mainpage Key-Value Observing for C and C++\n @copydetails kvo/kvo.h */")
    print("\n".join(out), end="")


main(sys.argv[1])
