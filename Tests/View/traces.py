"""Writes traces for the check of `kvo view`: traces.py FOLDER makes hostile.json and large.json."""

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

    def set(self, object, key, body=lambda: None):
        self.add("B", name=f"set {object.split('@')[0]}.{key}", cat="change", args={"object": object, "key": key})
        body()
        self.add("E")

    def notify(self, id, object, key, observer, body=lambda: None):
        name, address = observer.rsplit("@", 1)
        self.add("B", name=f"observer App.swift:7 ({key}) {name}", cat="delivery",
                 args={"object": object, "key": key, "observation": hex(id), "observer": name, "observerAddress": address,
                       "file": "App/App.swift", "line": 7})
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

# A quarter of a million events about ten thousand objects.
large = Trace()
for turn in range(6):
    def notify_rows(turn=turn):
        for row in range(10_000):
            address = hex(0x1000 + 16 * row)
            large.notify(row, "Table@0x10", "order", f"Row@{address}",
                         (lambda address=address: large.set(f"Row@{address}", "place")))
    large.set("Table@0x10", "order", notify_rows)
large.write("large.json")
