"""Makes a site of DocC independent of its address, and links it with the pages of the C API in its folder c.

usage: publish.py SITE

DocC writes pages for one address. Here each page computes the site's address from its own, so the folder can be moved as it is.
"""

import pathlib
import re
import sys

# Links to the C API are not pages of DocC, which would leave out the site's address.
SCRIPT = """<script>var baseUrl = new URL("{up}", location.href).pathname;
for (const event of ["pointerover", "focusin", "click"]) document.addEventListener(event, ({{target}}) => {{
  const link = target.closest && target.closest('a[href^="/c/"]');
  if (link && baseUrl !== "/") link.href = baseUrl + link.getAttribute("href").slice(1);
}}, true);</script>"""
FIRST = "documentation/keyvalueobserving/"
# A host shows it for any address, so it finds the site's own: the folder in front of the first part that only pages of the site have.
MISSING = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>No such page · swift-kvo</title>
<style>:root {{ color-scheme: light dark; }} body {{ font: 17px/1.5 -apple-system, "Helvetica Neue", sans-serif; max-width: 36em; margin: 4em auto; padding: 0 1em; }}</style>
<h1>No such page</h1>
<p>A page may have moved. Go on from here:
<ul><li><a href="{first}">swift-kvo</a><li><a href="{first}gettingstarted/">Getting started</a>
<li><a href="{first}faults/">The codes of reports, such as KVO0003</a><li><a href="c/index.html">The reference of libkvo</a></ul>
<script>const site = location.pathname.replace(/(documentation|tutorials|c)\\/.*/, "");
for (const link of document.links) link.href = site.replace(/[^/]*$/, "") + link.getAttribute("href");</script>
"""


def relative(path, site):
    up = "../" * (len(path.relative_to(site).parts) - 1) or "./"
    text = path.read_text()
    text = re.sub(r'\b(href|src)="/', rf'\1="{up}', text)
    changed = text.replace('<script>var baseUrl = "/"</script>', SCRIPT.format(up=up))
    if changed == text:
        sys.exit(f"publish: {path} has no baseUrl: has DocC another template?")
    path.write_text(changed)


def main(site):
    site = pathlib.Path(site)
    (site / "index.html").write_text(f'<!doctype html><meta charset="utf-8"><title>swift-kvo</title>'
                                     f'<meta http-equiv="refresh" content="0; url={FIRST}"><a href="{FIRST}">swift-kvo</a>\n')
    (site / "404.html").write_text(MISSING.format(first=FIRST))
    pages = [path for folder in ("documentation", "tutorials") for path in (site / folder).rglob("index.html")]
    for path in pages:
        relative(path, site)
    reference = list((site / "c").glob("*.html"))
    for path in reference:
        text = path.read_text()
        path.write_text(text.replace('<div id="projectbrief">', f'<div id="projectbrief"><a href="../{FIRST}">Swift</a> · ', 1))
    for name in ("link-hierarchy.json", "linkable-entities.json"):
        (site / name).unlink(missing_ok=True)
    print(f"site: {len(pages)} pages of Swift, {len(reference)} of C, in {site}")


main(*sys.argv[1:])
