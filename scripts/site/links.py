"""Checks what DocC does not: that the links from its pages to those of the C API lead somewhere, that each page has a summary, and that the
first page of a module lists all its public symbols. usage: links.py SITE
"""

import json
import pathlib
import re
import sys
import urllib.parse


def main(site):
    site = pathlib.Path(site)
    data = site / "data"
    pages = {"/" + str(path.relative_to(data).with_suffix("")): json.loads(path.read_text()) for path in data.rglob("*.json")}
    anchors = {path.name: set(re.findall(r'\b(?:id|name)="([^"]+)"', path.read_text(errors="replace"))) for path in (site / "c").glob("*.html")}
    wrong, count = [], 0
    for url, target in [(url, each.get("url", "")) for url, page in pages.items() for each in page.get("references", {}).values()]:
        if target.startswith("/c/"):
            name, _, anchor = urllib.parse.unquote(target.removeprefix("/c/")).partition("#")
            count += 1
            if name not in anchors or anchor and anchor not in anchors[name]:
                wrong.append(f"{url}: {target}: there is no such page of C, or it has no such anchor")
    for url, page in pages.items():
        metadata = page.get("metadata", {})
        if metadata.get("role") in ("symbol", "collection", "article") and not page.get("abstract") and url != "/documentation":
            wrong.append(f"{url}: {metadata['title']}: has no summary")
    for module in ("keyvalueobserving", "keyvalueobservingtesting"):
        for group in pages[f"/documentation/{module}"].get("topicSections", []):
            if group.get("generated"):
                wrong.append(f"{module}: {group['title']}: in no group of the first page: {', '.join(group['identifiers'])}")
    print(*sorted(wrong), sep="\n", end="\n" if wrong else "")
    print(f"links: {count} to {len(anchors)} pages of C from {len(pages)} pages of Swift, {len(wrong)} wrong")
    return 1 if wrong else 0


sys.exit(main(*sys.argv[1:]))
