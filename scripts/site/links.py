"""Checks the links within the site, that each page has a summary, and that the first page of a module lists all its public symbols.

usage: links.py SITE
"""

import html.parser
import json
import pathlib
import re
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """The anchors and the links of a page of HTML."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links = set(), set()
        self.feed(path.read_text(errors="replace"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value and tag in ("a", "img", "link", "script"):
                self.links.add(value)


def objects(value):
    """All dictionaries of a document of JSON."""
    if isinstance(value, dict):
        yield value
    if isinstance(value, (dict, list)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from objects(each)


class Site:
    def __init__(self, site):
        self.site, self.data, self.pages, self.wrong, self.count = pathlib.Path(site), {}, {}, [], 0
        for path in (self.site / "data").rglob("*.json"):
            self.data["/" + str(path.relative_to(self.site / "data").with_suffix(""))] = json.loads(path.read_text())
        for path in (self.site / "c").glob("*.html"):
            self.pages[path.name] = Page(path)
        self.anchors = {url: {each["anchor"] for each in objects(page) if "anchor" in each} for url, page in self.data.items()}

    def complain(self, page, target, why):
        self.wrong.append(f"{page}: {target}: {why}")

    def check_docc(self, page, target):
        path, _, anchor = target.partition("#")
        path = urllib.parse.unquote(path) or page
        self.count += 1
        if path.startswith("/c/"):
            return self.check_c(page, path[len("/c/"):] + ("#" + anchor if anchor else ""))
        if path not in self.data:
            return self.complain(page, target, "there is no such page")
        if anchor and urllib.parse.unquote(anchor) not in self.anchors[path] and not self.data[path].get("metadata", {}).get("role") == "overview":
            self.complain(page, target, "that page has no such heading")

    def check_c(self, page, target):
        name, _, anchor = target.partition("#")
        name = name or page
        self.count += 1
        if not (self.site / "c" / name).exists():
            self.complain(page, target, "there is no such page of C")
        elif anchor and name in self.pages and urllib.parse.unquote(anchor) not in self.pages[name].anchors:
            self.complain(page, target, "that page of C has no such anchor")

    def check(self):
        for url, page in self.data.items():
            # A reference that no text of the page uses is not shown.
            for each in page.get("references", {}).values():
                if "/tutorials/tutorials/" in each.get("url", ""):
                    continue  # a chapter, which is no page of its own
                if each.get("type") in ("topic", "link", "section", "unresolvable") and "url" in each:
                    if each["url"].startswith(("/", "#")):
                        self.check_docc(url, each["url"])
                    elif not re.match(r"[a-z]+:", each["url"]):
                        self.complain(url, each["url"], "is neither an address nor a page")
                for variant in each.get("variants", []) if each.get("type") == "image" else []:
                    if variant["url"].startswith("/") and not (self.site / variant["url"][1:]).exists():
                        self.complain(url, variant["url"], "there is no such picture")
            if not (self.site / url[1:] / "index.html").exists():
                self.complain(url, url, "has no HTML")
        for name, page in self.pages.items():
            for link in page.links:
                if link.startswith("../"):
                    if not (self.site / link[3:] / "index.html").exists() and not (self.site / link[3:]).is_file():
                        self.complain("c/" + name, link, "there is no such page")
                elif not re.match(r"[a-z]+:", link):
                    self.check_c(name, link)
        for url, page in self.data.items():
            if page.get("metadata", {}).get("role") in ("symbol", "collection", "article") and not page.get("abstract") and url != "/documentation":
                self.complain(url, page["metadata"]["title"], "has no summary")
        for module in ("keyvalueobserving", "keyvalueobservingtesting"):
            for group in self.data[f"/documentation/{module}"].get("topicSections", []):
                if group.get("generated"):
                    self.complain(module, group["title"], f"these are in no group of the first page: {', '.join(group['identifiers'])}")


def main(path):
    site = Site(path)
    site.check()
    print(*sorted(site.wrong), sep="\n", end="\n" if site.wrong else "")
    print(f"links: {site.count} within {len(site.data)} pages of Swift and {len(site.pages)} of C, {len(site.wrong)} wrong")
    return 1 if site.wrong else 0


sys.exit(main(*sys.argv[1:]))
