"""What has ended in a handler stays in memory until no handler runs: a value that the next one gets may have its address.

On a thread that C has made, Python keeps nothing from one call by C to the next: what has ended there is kept by the number of the thread.
C calls handlers, but does not say when a change that it has made is over. It is over when the same handler is called again, except by a
change within it, whose calls are deeper in the stack."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any as Anything

_PACKAGE = __name__.rpartition(".")[0]
_MOST_INNER, _MOST_HANDLERS = 100, 100_000
"""A change is also taken to be over after so many calls of the same handlers within it, and of different ones: the memory has a bound."""


def _is_called_by_c_alone() -> bool:
    """Whether the package is called by C, on a thread where no code of Python runs."""
    frame: Anything = sys._getframe(1)
    while frame is not None and str(frame.f_globals.get("__name__")).rpartition(".")[0] == _PACKAGE:
        frame = frame.f_back
    return frame is None


_CALLED_BY_C = {"_evaluated", "_copy", "_view", "_element", "_assign", "_same", "_told_both"}
"""The functions of the package that C calls, also between the handlers of a change, and that call the program."""


def _is_called_by_c() -> bool:
    frame: Anything = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name in _CALLED_BY_C and str(frame.f_globals.get("__name__")).rpartition(".")[0] == _PACKAGE:
            return True
        frame = frame.f_back
    return False


class _Ended:
    """What has ended in the handlers of a thread, and the calls of handlers since then."""

    __slots__ = ("memory", "told", "inner", "thread")

    def __init__(self) -> None:
        self.memory: list[Anything] = []
        self.told: dict[tuple[int, bool], int] = {}
        self.inner = 0
        self.thread = 0

    def tell(self, change: int, number: int, is_prior: bool) -> None:
        """C calls the handler of an observation, and no handler runs. The record of the change is on the stack, which grows downwards."""
        last = self.told.get((number, is_prior))
        if last is None:
            self.told[number, is_prior] = change
        else:
            self.inner += 1
        if (last is not None and change >= last) or self.inner > _MOST_INNER or len(self.told) > _MOST_HANDLERS:
            self.free()

    def free(self) -> None:
        self.inner = 0
        self.told.clear()
        self.memory.clear()


_ended_by_c: dict[int, _Ended] = {}
"""What has ended on threads of C, by their numbers."""
_ended_limit = [16]
"""When there are more of them, those of threads that have gone are forgotten. It is a list, so that it can be set."""


def _forget_gone_threads() -> None:
    try:
        alive = set(os.listdir("/proc/self/task"))
    except OSError:
        return
    if str(threading.get_native_id()) not in alive:  # the threads have other numbers there
        return
    for number, one in list(_ended_by_c.items()):
        if str(one.thread) not in alive:
            _ended_by_c.pop(number, None)
    _ended_limit[0] = max(16, 2 * len(_ended_by_c))


class _Calls(threading.local):
    """The calls of a thread that tell changes, each within the one before, and what they keep."""

    depth: int = 0

    def __init__(self) -> None:
        self.is_of_c = _is_called_by_c_alone()
        found = _ended_by_c.get(threading.get_ident()) if self.is_of_c else None
        self.ended = found or _Ended()
        self.memory = self.ended.memory
        if self.memory and self.ended.thread != threading.get_native_id():
            self.ended.free()  # it was another thread of this number, which has gone

    def leave(self) -> None:
        """A call has ended. No change is being delivered after the outermost one."""
        if not self.depth and self.memory and self.is_over():
            self.ended.free()

    def keep(self, memory: Anything) -> None:
        """Keeps the memory of what has ended, if it may be told. A change by C may tell it between the handlers, too."""
        if self.depth:
            if self.is_of_c and not self.memory:
                self.ended.thread = threading.get_native_id()
                _ended_by_c[threading.get_ident()] = self.ended
                if len(_ended_by_c) > _ended_limit[0]:
                    _forget_gone_threads()
            self.memory.append(memory)
        elif self.memory and self.is_over():
            self.ended.free()

    def is_over(self) -> bool:
        """Whether no change is being told, while no handler runs."""
        return not self.is_of_c and not _is_called_by_c()


_calls = _Calls()
