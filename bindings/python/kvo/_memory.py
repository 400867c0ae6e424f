"""What has ended in a handler stays in memory until no handler runs: a value that the next one gets may have its address."""

from __future__ import annotations

import threading
from typing import Any as Anything


class _Calls(threading.local):
    """The calls of a thread that tell changes, each within the one before, and what they keep."""

    depth: int = 0

    def __init__(self) -> None:
        self.ended: list[Anything] = []

    def leave(self) -> None:
        """Ends a call that began with depth += 1, and no change is being told after the outermost one."""
        self.depth -= 1
        if not self.depth and self.ended:
            self.ended.clear()

    def keep(self, memory: Anything) -> None:
        """Keeps the memory of what has ended, if it may be told. A change by C may tell it between the handlers, too."""
        if self.depth:
            self.ended.append(memory)
        elif self.ended:
            self.ended.clear()


_calls = _Calls()
