"""A demo: the memory of this machine's processes as an observed model. python3 processes.py [--seconds 3]

Processes and their sum are objects; all that is printed is printed by observers."""

import argparse
import os
import time

import kvo


class Process(kvo.Object):
    pid = kvo.Int()
    name = kvo.String()
    resident = kvo.Int()


class Machine(kvo.Object):
    processes = kvo.List(kvo.Reference)

    @kvo.computed
    def resident(self):
        return sum(process.resident for process in self.processes)

    @kvo.computed
    def largest(self):
        return max(self.processes, key=lambda process: process.resident, default=None)

    def sample(self) -> None:
        known = {process.pid: process for process in self.processes}
        present = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/statm") as pages, open(f"/proc/{pid}/comm") as name:
                    present[int(pid)] = (name.read().strip(), int(pages.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024)
            except (FileNotFoundError, ProcessLookupError):
                pass  # it has ended meanwhile
        for index in reversed(range(len(self.processes))):
            if self.processes[index].pid not in present:
                del self.processes[index]
        for pid, (name, resident) in present.items():
            if pid not in known:
                self.processes.append(Process(pid=pid, name=name, resident=resident))
            elif known[pid].resident != resident:
                known[pid].resident = resident


class View:
    """Prints the changes. Its observations end with it."""

    def __init__(self, machine: Machine) -> None:
        kvo.observe(machine, "processes", self.came_and_went, owner=self)
        kvo.observe(machine, "resident", self.changed, owner=self)
        kvo.observe(machine, "largest.name", self.largest_changed, kvo.NEW | kvo.OLD | kvo.INITIAL, owner=self)

    def came_and_went(self, change: kvo.Change) -> None:
        for process in change.new or ():
            print(f"+ {process.pid:7} {process.name}, {process.resident} KiB")
        for process in change.old or ():
            print(f"- {process.pid:7} {process.name}")

    def changed(self, change: kvo.Change) -> None:
        if change.old != change.new:
            print(f"  all     {change.new} KiB, {change.new - change.old:+}")

    def largest_changed(self, change: kvo.Change) -> None:
        if change.old != change.new:
            print(f"  largest {change.new}")


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--seconds", type=float, default=3)
    end = time.monotonic() + arguments.parse_args().seconds
    machine = Machine()
    machine.sample()
    view = View(machine)
    while time.monotonic() < end:
        time.sleep(0.2)
        machine.sample()
    del view
    assert not machine.is_observed
    print(f"{len(machine.processes)} processes")


if __name__ == "__main__":
    main()
