"""The manual pages of the types of libkvo, and of the macros that stand for functions and values. Part of pages.py."""

import re

# The other macros belong to the headers.
MACROS = ("KVO_SET", "KVO_VALUE", "KVO_ENCODING", "KVO_HERE")


def declared(unit):
    """The types and macros of a header, but for structures, which Doxygen has in files of their own."""
    for each in unit.iter("memberdef"):
        name, kind = each.findtext("name"), each.get("kind")
        if (kind in ("enum", "typedef") and name.startswith("kvo_")) or (kind == "define" and name in MACROS):
            yield name, each


def declaration(member):
    kind, name, rest = "".join(member.find("type").itertext()).strip(), member.findtext("name"), member.findtext("argsstring") or ""
    return re.sub(r"(?<=\w)\(\*", " (*", f"{kind}{'' if kind.endswith('*') else ' '}{name}{rest}")


def synopsis(name, element):
    """The lines of the declaration, and the parts that have comments of their own."""
    kind = element.get("kind")
    if kind == "define":
        parameters = [each.findtext("defname") for each in element.findall("param")]
        return [name + (f"({', '.join(parameters)})" if parameters else "")], []
    if kind == "typedef":
        return [re.sub(r"\s*\(\*\s*", " (*", element.findtext("definition")).replace(") (", ")(") + ";"], []
    if kind == "enum":
        parts = element.findall("enumvalue")
        lines = ["    " + " ".join([each.findtext("name"), *(each.findtext("initializer") or "").split()]) + "," for each in parts]
        return [f"typedef enum {name} {{", *lines, f"}} {name};"], parts
    parts = [each for each in element.iter("memberdef") if each.get("kind") == "variable"]
    return [f"typedef struct {name} {{", *(f"    {declaration(each)};" for each in parts), f"}} {name};"], parts


def described(pages, parts, texts):
    """A list of the parts with their comments, or texts. Parts with the same comment are one row."""
    rows = []
    for each in parts:
        if each.findtext("name").startswith("kvo_private"):
            continue
        lines = [*pages.block(each.find("briefdescription")), *pages.block(each.find("detaileddescription"))]
        text = " ".join(line for line in lines if line != ".PP") or texts.get(each.findtext("name"), "")
        if rows and text and rows[-1][1] == text:
            rows[-1][0].append(each.findtext("name"))
        else:
            rows.append(([each.findtext("name")], text))
    for names, text in rows:
        if text:
            yield from (".TP", ", ".join(f"\\fB{name}\\fR" for name in names), text)
