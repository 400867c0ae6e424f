"""Writes the manual pages of libkvo (section 3) from what Doxygen has read in the headers: functions, types, some macros, an overview.

usage: pages.py XML OUT

A function whose comment is that of the one before it, or begins with "The same", or is only the name of another function, shares that
one's page. The sections of a page come from the comment: a sentence that says what is returned is the return value, the names of statuses
and faults are listed with their texts. A function without a comment, or whose result no sentence describes, is an error.
"""

import datetime
import gzip
import os
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

import types_pages

HEADERS = pathlib.Path(__file__).resolve().parents[2] / "CShim/include/kvo"
BASE = (HEADERS / "kvo_base.h").read_text()
VERSION = ".".join(re.search(rf"KVO_VERSION_{part} (\d+)", BASE)[1] for part in ("MAJOR", "MINOR", "PATCH"))
STATUSES = dict(re.findall(r"X\(KVO_ERROR_(\w+), -\d+, \"(.*?)\"\)", BASE))
FAULTS = {f"KVO{int(code):04}": text for code, text in
          re.findall(r"X\(KVO_FAULT_\w+, (\d+), \w+, \"\w*\",[\s\\]*\"(.*?)\"\)", (HEADERS / "kvo_fault.h").read_text())}
# A header that is not included by itself, and the one that includes it.
INCLUDED = {path.name: whole for path in HEADERS.glob("*.h") for whole in re.findall(r"Part of (\S+\.h)\.", path.read_text()[:600])}


def escaped(text):
    """Text for troff: backslashes, and characters that it prints otherwise."""
    for plain, roff in (("\\", "\\e"), ("-", "\\-"), ("'", "\\(aq"), ("`", "\\(ga"), ("^", "\\(ha"), ("~", "\\(ti"), ("…", "...")):
        text = text.replace(plain, roff)
    return text


def line(text):
    """A line of text, which must not begin as a request does."""
    return "\\&" + text if text[:1] in (".", "'") else text


def bold(text):
    return f"\\fB{escaped(text)}\\fR"


# The texts of the enumerators that the tables of statuses and faults make.
TEXTS = {name: escaped(text[0].upper() + text[1:] + ".") for header in ("kvo_base.h", "kvo_fault.h")
         for name, text in re.findall(r"X\((KVO_\w+), [^()]*\"([^\"]*)\"\)", (HEADERS / header).read_text())}


class Pages:
    def __init__(self, folder):
        self.functions, self.headers, self.types = [], [], {}
        for path in sorted(pathlib.Path(folder).glob("kvo*_8h.xml")):
            unit = ElementTree.parse(path).find("compounddef")
            self.headers.append(unit)
            self.functions += [each for each in unit.iter("memberdef") if each.get("kind") == "function" and each.get("static") == "no"]
            self.types.update(types_pages.declared(unit))
        for path in sorted(pathlib.Path(folder).glob("structkvo__*.xml")):
            unit = ElementTree.parse(path).find("compounddef")
            self.types[unit.findtext("compoundname")] = unit
        self.names = {each.findtext("name") for each in self.functions}
        self.wrong = []
        for function in (*self.functions, *self.types.values()):
            texts = [*function.find("briefdescription").itertext(), *function.find("detaileddescription").itertext()]
            function.set("text", re.sub(r"\s+", " ", "".join(texts)).strip())

    # ------------------------------------------------------------------------------------------------------------- Text

    def words(self, element):
        """The text in an element, in one line, with functions and code in bold."""
        text = self.marked(element.text or "")
        for child in element:
            if child.tag == "computeroutput":
                text += bold("".join(child.itertext()))
            elif child.tag in ("itemizedlist", "orderedlist", "verbatim", "programlisting"):
                text += "\0"
            else:
                text += self.words(child)
            text += self.marked(child.tail or "")
        return re.sub(r"[ \n]+", " ", text)

    def marked(self, text):
        parts = re.split(r"\b(kvo_\w+)\b", text)
        return "".join(f"\\fB{part}\\fR" + ("(3)" if part in self.names else "") if index % 2 else escaped(part)
                       for index, part in enumerate(parts))

    def block(self, element):
        """The paragraphs of a description as lines of troff."""
        for para in element.findall("para"):
            pieces = self.words(para).split("\0")
            inner = [child for child in para if child.tag in ("itemizedlist", "orderedlist", "verbatim", "programlisting")]
            for index, piece in enumerate(pieces):
                if piece.strip():
                    yield from (".PP", line(piece.strip()))
                if index < len(inner):
                    yield from self.inner(inner[index])

    def inner(self, element):
        if element.tag in ("itemizedlist", "orderedlist"):
            for item in element.findall("listitem"):
                body = [each for each in self.block(item) if each != ".PP"]
                yield from (".IP \\(bu 2", *body)
        else:
            code = element.text or "" if element.tag == "verbatim" else "\n".join(
                "".join(self.code(each)) for each in element.findall("codeline"))
            yield from (".PP", ".in +4n", ".EX", *(line(escaped(each)) for each in code.rstrip().split("\n")), ".EE", ".in")

    def code(self, element):
        yield element.text or ""
        for child in element:
            yield " " if child.tag == "sp" else "".join(self.code(child))
            yield child.tail or ""

    # ------------------------------------------------------------------------------------------------------------ Pages

    def description(self, function):
        """The comment: one paragraph for the first sentence and what follows it, then the others."""
        brief, rest = function.find("briefdescription"), function.find("detaileddescription")
        lines, more = list(self.block(brief)), list(self.block(rest))
        starts = (HEADERS.parent / function.find("location").get("file")).read_text().split("\n")
        if lines and more[:1] == [".PP"] and self.is_one_paragraph(function, starts):
            lines[-1] += " " + more[1]
            more = more[2:]
        return lines + more

    @staticmethod
    def is_one_paragraph(function, source):
        """Whether no empty line follows the first sentence in the header. Doxygen does not say it."""
        at = int(function.find("location").get("line")) - 1
        while not source[at].startswith("/**"):
            at -= 1
        first = []
        while source[at].strip() != "*" and "*/" not in source[at]:
            first.append(source[at])
            at += 1
        first.append(source[at] if "*/" in source[at] else "")
        whole = re.sub(r"\W+", "", "".join(first))
        brief = re.sub(r"\W+", "", "".join(function.find("briefdescription").itertext()))
        return len(whole) > len(brief)

    def grouped(self):
        """The functions as lists, one for each page."""
        groups, page_of = [], {}
        for function in self.functions:
            name = function.findtext("name")
            text = function.get("text")
            if text.rstrip(".") in self.names:
                page_of[name] = text.rstrip(".")
                continue
            if groups and same_header(groups[-1][0], function) and (text.startswith("The same") or text == groups[-1][-1].get("text")):
                groups[-1].append(function)
            else:
                groups.append([function])
        located = {each.findtext("name"): each for each in self.functions}
        for name, of in page_of.items():
            group = next(group for group in groups if of in [each.findtext("name") for each in group])
            located[name].set("text", "")
            group.append(located[name])
        return groups

    def returned(self, function):
        """The sentences of a comment that say what a function returns."""
        sentences = re.split(r"(?<=\.) |(?<=;) (?=[A-Z0\"])", function.get("text"))
        said = [each for index, each in enumerate(sentences) if re.match(r"Returns\b|.*\band returns\b|Replaces .* and returns", each) or
                (index and re.match(r"(NULL|0|False|True|\"\") (for|if|past|without|until|also)\b|Never NULL", each))]
        if not said:
            self.wrong.append(f"{function.findtext('name')}: its comment does not say what it returns")
        return " ".join(said)

    def errors(self, function, seen=()):
        """The statuses that a comment names, with those of the functions to which it refers."""
        text = function.get("text")
        names = {name for name in STATUSES if re.search(rf"\b{name}\b", text)}
        names |= {"INVALID_ARGUMENT"} if "KVO0008" in text else set()
        for other in re.findall(r"[Ff]ails? as (kvo_\w+)", text):
            if other in self.names and other not in seen:
                names |= self.errors(self.named(other), (*seen, other))
        return names

    def named(self, name):
        return next(each for each in self.functions if each.findtext("name") == name)

    @staticmethod
    def head(element, names, date):
        """The beginning of a page, as far as the synopsis."""
        header = pathlib.Path(element.find("location").get("file")).name
        brief = re.sub(r"\s+", " ", "".join(element.find("briefdescription").itertext())).strip().rstrip(".:")
        yield f".TH {names[0]} 3 {date} \"libkvo {VERSION}\" \"Manual of libkvo\""
        yield from (".SH NAME", f"{', '.join(names)} \\- {escaped(brief[0].lower() + brief[1:])}")
        yield from (".SH LIBRARY", "libkvo (\\fIpkg\\-config kvo\\fR, \\fI\\-lkvo\\fR)")
        yield from (".SH SYNOPSIS", ".nf", f".B #include <kvo/{INCLUDED.get(header, header)}>")

    def see_also(self, text, names):
        also = sorted(({each for each in re.findall(r"\w+", text) if each in self.names or each in self.types} | {"libkvo"}) - set(names))
        yield from (".SH SEE ALSO", *(f".BR {each} (3){',' if each != also[-1] else ''}" for each in also))

    def type_page(self, name, element, date):
        yield from self.head(element, [name], date)
        lines, parts = types_pages.synopsis(name, element)
        yield from (".PP", *(bold(each) for each in lines), ".fi", ".SH DESCRIPTION", *list(self.description(element))[1:])
        rows = list(types_pages.described(self, parts, TEXTS))
        if rows:
            yield from (".SH VALUES" if element.get("kind") == "enum" else ".SH MEMBERS", *rows)
        users = [each for each in self.functions if each.get("text") and re.search(rf"\b{name}\b", "".join(each.itertext()))]
        yield from self.see_also(" ".join([element.get("text"), *lines, *(each.findtext("name") for each in users[:6])]), [name])

    def page(self, group, date):
        names = [each.findtext("name") for each in group]
        text = " ".join(each.get("text") for each in group)
        yield from self.head(group[0], names, date)
        for function in group:
            kind = "".join(function.find("type").itertext()).strip()
            arguments = function.findtext("argsstring").removeprefix("(").removesuffix(")")
            arguments = re.sub(r"(?<=\w)\(\*", " (*", arguments)
            start = f"{kind}{'' if kind.endswith('*') else ' '}{function.findtext('name')}("
            yield from (".PP", *(f"\\fB{escaped(each)}\\fR" for each in wrapped(start, arguments)))
        yield ".fi"
        yield ".SH DESCRIPTION"
        last = None
        for function in group:
            if function.get("text") in ("", last):
                continue
            last = function.get("text")
            lines = list(self.description(function))
            if len(group) > 1 and len({each.get("text") for each in group} - {""}) > 1:
                yield from (".SS " + function.findtext("name"), *lines[1:])
            else:
                yield from lines[1:]
        sited = [name for name, function in zip(names, group) if not function.get("text")]
        if sited:
            yield from (".PP", f"{' and '.join(bold(each) for each in sited)} "
                        f"{'do' if len(sited) > 1 else 'does'} the same with a source location for reports. The macros and default "
                        "arguments of \\fBkvo_site.h\\fR call it with that of the call, unless \\fBKVO_NO_SITES\\fR is defined.")
        yield ".SH RETURN VALUE"
        kinds = {"".join(each.find("type").itertext()).strip() for each in group}
        if kinds == {"void"}:
            yield "None."
        elif kinds == {"kvo_status"}:
            yield ("\\fBKVO_OK\\fR, which is 0, or a negative status. \\fBkvo_last_error\\fR(3) then says in a line of text what has "
                   "failed, and why.")
            errors = set().union(*(self.errors(each) for each in group))
            if not errors:
                self.wrong.append(f"{names[0]}: its comment names no error")
            yield from self.listed("ERRORS", {f"KVO_ERROR_{name}": STATUSES[name] for name in STATUSES if name in errors})
        else:
            yield from (line(self.marked(self.returned(each))) for each in group if each.get("text"))
        yield from self.listed("FAULTS", {code: FAULTS[code] for code in FAULTS if code in text})
        signatures = ("".join(each.find("type").itertext()) + each.findtext("argsstring") for each in group)
        yield from self.see_also(" ".join([text, *signatures]), names)

    @staticmethod
    def listed(title, rows):
        if rows:
            yield f".SH {title}"
            for name, text in rows.items():
                yield from (".TP", bold(name), line(escaped(text[0].upper() + text[1:] + ".")))

    def overview(self, groups, date):
        yield f".TH libkvo 3 {date} \"libkvo {VERSION}\" \"Manual of libkvo\""
        kvo = next(each for each in self.headers if each.findtext("compoundname") == "kvo.h")
        yield from (".SH NAME", "libkvo \\- Key\\-Value Observing for C, C++ and any language that can call C")
        yield from (".SH SYNOPSIS", ".nf", ".B #include <kvo/kvo.h>", ".PP", "\\fIcc\\fR ... \\fI\\-lkvo\\fR", ".fi", ".SH DESCRIPTION")
        yield from list(self.block(kvo.find("detaileddescription")))[1:]
        for unit in sorted(self.headers, key=lambda each: each.findtext("compoundname")):
            header = unit.findtext("compoundname")
            of = [group for group in groups if pathlib.Path(group[0].find("location").get("file")).name == header]
            if of:
                yield from (f".SH {header}", escaped(re.sub(r"\s+", " ", "".join(unit.find("briefdescription").itertext())).strip()))
            for group in of:
                brief = re.sub(r"\s+", " ", "".join(group[0].find("briefdescription").itertext())).strip()
                names = [f"\\fB{each.findtext('name')}\\fR(3)" for each in group if each.get("text")]
                yield from (".TP", ", ".join(names), line(escaped(brief)))
            types = [f"\\fB{name}\\fR(3)" for name, each in sorted(self.types.items()) if same_header(each, unit)]
            if types:
                yield from (".TP", "Types and macros", ", ".join(types))


def same_header(one, other):
    return one.find("location").get("file") == other.find("location").get("file")


def wrapped(start, arguments):
    """The declaration in lines of at most 78 characters, if commas allow it."""
    lines = [start]
    for index, each in enumerate(parts := re.split(r", (?![^(]*\))", arguments)):
        each += "," if index + 1 < len(parts) else ");"
        if lines[-1] != start and len(lines[-1]) + len(each) >= 78:
            lines.append(" " * min(len(start), 16))
        elif lines[-1] == start and len(start) + len(each) > 78:
            lines.append(" " * 8)
        elif lines[-1].endswith(","):
            lines[-1] += " "
        lines[-1] += each
    return lines


def write(out, name, lines):
    """Writes a page, compressed as packages have it."""
    (out / f"{name}.3.gz").write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), 9, mtime=0))


def main(xml, out):
    pages, out = Pages(xml), pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    newest = int(os.environ.get("SOURCE_DATE_EPOCH") or max(path.stat().st_mtime for path in HEADERS.glob("*.h")))
    date = datetime.datetime.fromtimestamp(newest, datetime.timezone.utc).date().isoformat()
    groups = pages.grouped()
    write(out, "libkvo", pages.overview(groups, date))
    for group in groups:
        first, *others = [each.findtext("name") for each in group]
        write(out, first, pages.page(group, date))
        for other in others:
            (out / f"{other}.3.gz").symlink_to(f"{first}.3.gz")
    for name, element in pages.types.items():
        write(out, name, pages.type_page(name, element, date))
    if pages.wrong:
        sys.exit("\n".join(pages.wrong))
    print(f"manual: {len(pages.names)} functions on {len(groups)} pages, {len(pages.types)} types and macros, and an overview")


main(*sys.argv[1:])
