"""Compares a set with one observer with traitlets: python3 bench.py (pip install traitlets, or apt-get install python3-traitlets)."""

import time
import timeit
from typing import Any

import kvo

COUNT, ROUNDS = 50_000, 15
last = 0.0


class Document(kvo.Object):
    zoom = kvo.Double(1.0)


def note(change: Any) -> None:
    """As an observer usually does, it takes the new value."""
    global last
    last = change.new


def nanoseconds(document: Any) -> float:
    def run() -> None:
        for number in range(COUNT):
            document.zoom = number + 0.5

    return min(timeit.repeat(run, timer=time.thread_time, number=1, repeat=ROUNDS)) / COUNT * 1e9


def main() -> None:
    unobserved = Document()
    observed = Document()
    kvo.observe(observed, "zoom", note)
    print(f"kvo, not observed          {nanoseconds(unobserved):6.0f} ns")
    ours = nanoseconds(observed)
    print(f"kvo, one observer          {ours:6.0f} ns")
    try:
        import traitlets
    except ImportError:
        print("traitlets is not installed")
        return

    class Traits(traitlets.HasTraits):
        zoom = traitlets.Float(1.0)

    peer = Traits()
    print(f"traitlets, not observed    {nanoseconds(peer):6.0f} ns")
    peer.observe(note, "zoom")
    theirs = nanoseconds(peer)
    print(f"traitlets, one observer    {theirs:6.0f} ns")
    print(f"ratio, one observer        {ours / theirs:6.2f}")
    assert last == COUNT - 0.5


if __name__ == "__main__":
    main()
