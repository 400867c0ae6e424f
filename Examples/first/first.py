"""Properties, a key path and a list in Python.  python3 first.py"""

import kvo


class Author(kvo.Object):
    name = kvo.String()


class Document(kvo.Object):
    zoom = kvo.Double()
    author = kvo.Reference()
    marks = kvo.List(kvo.Int)


def marked(change):
    for index, mark in zip(change.indexes, change.new):
        print(f"mark {index} is {mark}")


ada, report = Author(name="Ada"), Document()
kvo.observe(report, "zoom", lambda change: print(f"zoom {change.old:g} -> {change.new:g}"))
kvo.observe(report, "author.name", lambda change: print(f"author {change.new or 'nobody'}"))
kvo.observe(report, "marks", marked)
report.zoom = 2
report.author = ada
ada.name = "Grace"
report.marks.insert(0, 7)
report.author = None
