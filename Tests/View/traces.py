"""Writes traces for the check of `kvo view`: traces.py FOLDER makes hostile.json, shop.json and large.json."""

import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])


class Trace:
    def __init__(self):
        self.lines, self.time = [], 0

    def add(self, phase, **members):
        self.time += 1
        self.lines.append(json.dumps({"ph": phase, "pid": 1, "tid": 1, "ts": self.time, **members}))

    def set(self, object, key, body=lambda: None, calls=None):
        args = {"object": object, "key": key, **({"calls": calls} if calls else {})}
        self.add("B", name=f"set {object.split('@')[0]}.{key}", cat="change", args=args)
        body()
        self.add("E")

    def notify(self, id, object, key, observer, body=lambda: None, line=7):
        name, address = observer.rsplit("@", 1)
        self.add("B", name=f"observer App.swift:{line} ({key}) {name}", cat="delivery",
                 args={"object": object, "key": key, "observation": hex(id), "observer": name, "observerAddress": address,
                       "file": "App/App.swift", "line": line})
        body()
        self.add("E")

    def write(self, name):
        (folder / name).write_text("[\n" + ",\n".join(self.lines) + "\n]\n")


hostile = Trace()
evil = "<script>hit = 1</script>"


def notify_all():
    for i in range(30):
        hostile.notify(i, f"{evil}@0x1", "\"'<b>&", f"{evil}{i % 2}@{hex(16 + i)}")
    hostile.add("i", name="KVO0002 error", cat="fault", s="t", args={"summary": "KVO0002 error: <b>no such</b>"})


hostile.set(f"{evil}@0x1", "\"'<b>&", notify_all)
hostile.write("hostile.json")

# A rate notifies 200 items, five of each order; each order adds up and notifies its shipping and the report; the report notifies twice.
shop = Trace()
report = "Report@0x1"


def follow_rate():
    for i in range(200):
        item, order = f"Item@{hex(0x1000 + 16 * i)}", f"Order@{hex(0x100 + 16 * (i // 5))}"

        def follow_total(i=i, order=order):
            shop.notify(1000 + i // 5, order, "total", report, lambda: shop.set(report, "revenue", follow_revenue), line=40)
            shop.notify(2000 + i // 5, order, "total", order, lambda: shop.set(
                order, "shipping", lambda: shop.notify(3000 + i // 5, order, "shipping", report, line=40)), line=39)

        def follow_price(i=i, item=item, order=order):
            shop.notify(4000 + i, item, "price", order, lambda: shop.set(order, "total", follow_total), line=38)
        shop.notify(5000 + i, "Settings@0x2", "rate", item, lambda: shop.set(item, "price", follow_price), line=38)


def follow_revenue():
    shop.notify(1, report, "revenue", report, line=41)
    shop.notify(2, report, "revenue", report, line=41)


shop.set("Item@0x1000", "stock", lambda: shop.notify(9000, "Item@0x1000", "stock", "Item@0x1000"), calls=["main"])
shop.set("Settings@0x2", "rate", follow_rate, calls=["raise_rate"])
shop.write("shop.json")

# A quarter of a million events about ten thousand objects.
large = Trace()
for _ in range(6):
    def notify_rows():
        for row in range(10_000):
            address = hex(0x1000 + 16 * row)
            large.notify(row, "Table@0x10", "order", f"Row@{address}",
                         (lambda address=address: large.set(f"Row@{address}", "place")))
    large.set("Table@0x10", "order", notify_rows)
large.write("large.json")
