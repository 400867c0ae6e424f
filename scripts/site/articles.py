"""Makes the catalogue of the site: copies the catalogue of a module, and adds an article for each guide, page of a fault, README of
a binding or an example, and CHANGELOG.

usage: articles.py CATALOGUE OUT GRAPHS INDEX

The documents are the only text: an article is a document with what DocC needs otherwise. Links between documents become links between
articles; links to other files of the repository become their names; names of types in `code`, and of functions and types of C, become
links, the latter by Doxygen's index; tables of HTML become rows of columns; comments are left out. In an article of the catalogue a line
<!-- from: FILE, SECTION --> stands for that section of a document, which is inserted there. The programs of the tutorials are those of
Tests/Tutorials.
"""

import json
import pathlib
import re
import shutil
import sys
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import links  # noqa: E402 what a link and a heading are
import snippets  # noqa: E402 the programs of the tutorials
FAULTS = ROOT / "Documentation/Faults"
# The name of each article, and its document.
DOCUMENTS = {path.stem: path for path in sorted((ROOT / "Documentation").glob("*.md"))}
DOCUMENTS |= {path.stem: path for path in sorted(FAULTS.glob("KVO*.md"))}
DOCUMENTS |= {"Faults": FAULTS / "README.md", "Python": ROOT / "bindings/python/README.md", "Lua": ROOT / "bindings/lua/README.md",
              "GLib": ROOT / "bindings/glib/README.md", "Desktop": ROOT / "Examples/Desktop/README.md",
              "Examples": ROOT / "Examples/README.md", "Changes": ROOT / "CHANGELOG.md"}
ARTICLES = {path: name for name, path in DOCUMENTS.items()}


class Wrong(Exception):
    pass


def fragment(heading):
    """The anchor of a heading in an article: as DocC makes it."""
    plain = re.sub(r"[!-,./:-@\[-`{}~·…«»“”‘’]", lambda found: found[0] if found[0] in "$+<=>^|~" else "", links.plain(heading))
    return re.sub(r"[\s–—-]+", "-", plain).strip("-")


def types(graphs):
    """The names of the public types of the symbol graphs; for a nested one that is "Outer.Inner"."""
    kinds = {"swift.class", "swift.struct", "swift.enum", "swift.protocol"}
    names = set()
    for path in pathlib.Path(graphs).rglob("*.symbols.json"):
        for symbol in json.loads(path.read_text())["symbols"]:
            if symbol["kind"]["identifier"] in kinds and not any(part.startswith("_") for part in symbol["pathComponents"]):
                names.add(".".join(symbol["pathComponents"]))
    return names


def reference(index):
    """Returns {name: page} of the functions, types and macros of C, from Doxygen's index."""
    pages = {}
    for compound in xml.etree.ElementTree.parse(index).getroot():
        if compound.get("kind") == "struct":
            pages[compound.findtext("name")] = compound.get("refid") + ".html"
        for member in compound.findall("member") if compound.get("kind") == "file" else []:
            page, _, anchor = member.get("refid").rpartition("_1")
            if member.get("kind") in ("function", "typedef", "enum", "define"):
                pages.setdefault(member.findtext("name"), f"{page}.html#{anchor}")
    return pages


class Article:
    def __init__(self, path, symbols, functions):
        self.path, self.symbols, self.functions, self.pictures = path, symbols, functions, []

    def link(self, match):
        image, text, target = match.groups()
        if re.match(r"[a-z]+:", target):
            return match[0]
        name, _, anchor = target.partition("#")
        path = (self.path.parent / name).resolve() if name else self.path
        if not path.exists():
            raise Wrong(f"{self.path.relative_to(ROOT)}: {target} does not exist")
        if image:
            self.pictures.append(path)
            return f"![{text}]({path.name})"
        if path.is_dir() and (path / "README.md").exists():
            path /= "README.md"
        if path not in ARTICLES:
            return f"`{path.relative_to(ROOT)}`" if text.endswith(".md") else f"{text} (`{path.relative_to(ROOT)}`)"
        if not anchor:
            # The name of a file becomes the title of the article.
            return f"<doc:{ARTICLES[path]}>" if text.endswith(".md") else f"[{text}](doc:{ARTICLES[path]})"
        known = links.anchors(path)
        if anchor not in known:
            raise Wrong(f"{self.path.relative_to(ROOT)}: {target} is no heading")
        return f"[{text}](doc:{ARTICLES[path]}#{fragment(known[anchor])})"

    def prose(self, text):
        """What is neither a heading nor a block of code."""
        text = links.LINK.sub(self.link, text)
        text = re.sub(r"<(https?://[^>]+)>", r"[\1](\1)", text)

        def named(match):
            if match[1] in self.functions:
                return f"[{match[0]}](/c/{self.functions[match[1]]})"
            name = match[1].replace(".", "/")
            return f"``{name}``" if match[1] in self.symbols else match[0]
        # Not within a link, whose text DocC would show as code.
        parts = re.split(r"(\[(?:[^\[\]`]|`[^`]*`)*\]\([^)]*\))", text)
        return "".join(part if index % 2 else re.sub(r"(?<!`)`([A-Z][\w.]*|kvo_\w+)`(?!`)", named, part) for index, part in enumerate(parts))

    @staticmethod
    def tables(text):
        """Tables of HTML, whose cells hold blocks of code, as rows of columns."""
        text = re.sub(r"^<table>\n<tr>((?:<th>[^<]*</th>)+)</tr>\n", lambda found: "<titles>" + "|".join(re.findall("<th>([^<]*)", found[1])) + "\n",
                      text, flags=re.M)
        out, titles, column = [], [], 0
        for line in text.split("\n"):
            if line.startswith("<titles>"):
                titles = line[len("<titles>"):].split("|")
                continue
            for tag in re.findall(r"</?t(?:able|r|d)(?: [^>]*)?>", line) if line.startswith(("<t", "</t")) else [None]:
                if tag is None:
                    out.append(line)
                elif tag == "<tr>":
                    out.append(f"@Row(numberOfColumns: {len(titles)}) {{")
                    column = 0
                elif tag.startswith("<td"):
                    out += ["@Column {", "", f"**{titles[column]}**", ""]
                    column += 1
                elif tag in ("</td>", "</tr>"):
                    out.append("}")
        return "\n".join(out)

    def made(self, text):
        text = re.sub(r"^ *<!--.*?-->\n?", "", text, flags=re.M | re.S)
        text = self.tables(text)
        # DocC takes a quotation for a note, unless it has another title.
        text = re.sub(r"(?:^>.*\n)+", lambda found: "> Apple's message: " + re.sub(r"([<*_])", r"\\\1", found[0][2:]), text, flags=re.M)
        # DocC has sections of its own of these names, which hold links only.
        text = re.sub(r"^## See also$", "## Related faults and settings", text, flags=re.M)
        out, fenced = [], False
        for part in re.split(r"(^```.*?^```[^\n]*\n|^#+ [^\n]*\n)", text, flags=re.M | re.S):
            out.append(part if part.startswith(("```", "#")) else self.prose(part))
        return "".join(out)


def section(path, title):
    """The text below a heading of a document, up to the next heading of its rank; "" is the text before the second heading."""
    text = path.read_text()
    parts = re.split(r"^(##+ .+)$", text, flags=re.M)
    if not title:
        return parts[0].split("\n", 1)[1].strip() + "\n"
    for heading, body in zip(parts[1::2], parts[2::2]):
        if heading.lstrip("# ") == title:
            return body.strip() + "\n"
    raise Wrong(f"{path.relative_to(ROOT)} has no section \"{title}\"")


def main(catalogue, out, graphs, index):
    catalogue, out, symbols, functions = pathlib.Path(catalogue), pathlib.Path(out), types(graphs), reference(index)
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(catalogue, out)
    for path in out.rglob("*.md"):
        text = path.read_text()

        def inserted(match):
            source = ROOT / match[1]
            return Article(source, symbols, functions).made(section(source, match[2]))
        path.write_text(re.sub(r"^<!-- from: ([^,\n]+), ?(.*?) -->\n", inserted, text, flags=re.M))
    pages = out / "Documents"
    pages.mkdir()
    for name, path in DOCUMENTS.items():
        article = Article(path, symbols, functions)
        text = article.made(path.read_text()).rstrip() + "\n"
        for picture in article.pictures:
            shutil.copy(picture, pages)
        if name == "C":
            text += "\nThe [reference of libkvo](/c/index.html) has all functions and types.\n"
        if path.name.startswith("KVO"):
            # Otherwise each page of a fault ends with a list of all others.
            text += "\n@Options {\n  @AutomaticSeeAlso(disabled)\n}\n"
        if name == "Faults":
            text += "\n## Topics\n\n### The faults\n\n" + "".join(f"- <doc:{each}>\n" for each in DOCUMENTS if each.startswith("KVO"))
        (pages / f"{name}.md").write_text(text)
    for program in snippets.TUTORIALS:
        for step, (lines, _) in enumerate(snippets.steps(program), 1):
            (out / f"{program.stem}-{step}.swift").write_text("\n".join(lines) + "\n")
    for report in (ROOT / "Tests/Tutorials").glob("*.report"):
        shutil.copy(report, out / f"{report.stem}-report.txt")
    print(f"articles: {len(DOCUMENTS)} documents, {len(snippets.TUTORIALS)} tutorials")


if __name__ == "__main__":
    if len(sys.argv) != 5 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except Wrong as error:
        sys.exit(f"articles: {error}")
