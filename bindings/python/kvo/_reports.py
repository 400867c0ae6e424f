"""What handlers and getters raise while C calls them: reported, or raised by the next call of the package on the thread."""

from __future__ import annotations

import ctypes as C
import sys
import threading
from typing import Any as Anything, Optional

from ._memory import _is_called_by_c_alone

_PACKAGE = __name__.rpartition(".")[0]


class _Thread(threading.local):
    """What the code of handlers has raised that no report may take away: KeyboardInterrupt, SystemExit, and RecursionError, when there is
    no room for a report. The next call of the package on the thread raises it; for one that only C calls, on the main thread."""

    interrupt: Optional[BaseException] = None


_thread = _Thread()
_for_main: list[BaseException] = []
_interrupted: list[bool] = []
"""An element for each that waits, added before it and taken out after it. It is a list, so that other modules can import it."""


class _Report:
    """Raises an error where ctypes passes it to sys.unraisablehook; Python has no other way to do that."""

    def __init__(self, error: BaseException, where: Anything) -> None:
        self.error, self.where = error, where

    def __call__(self) -> None:
        raise self.error

    def __repr__(self) -> str:
        return repr(self.where)


def _failed(error: BaseException, where: Anything) -> None:
    """Reports what a handler or a getter has raised while C had called it: there is no caller that could catch it."""
    if isinstance(error, Exception) and not isinstance(error, RecursionError):
        C.CFUNCTYPE(None)(_Report(error, where))()
    elif _is_alone():
        if not _for_main:
            _interrupted.append(True)
            _for_main.append(error)
    else:
        _interrupt(error)


def _interrupt(error: BaseException) -> None:
    if _thread.interrupt is None:
        _interrupted.append(True)
    _thread.interrupt = error


def _is_alone() -> bool:
    try:
        return _is_called_by_c_alone()
    except RecursionError:
        return False


def _raise_interrupt() -> None:
    error, _thread.interrupt = _thread.interrupt, None
    if error is None and _for_main and threading.current_thread() is threading.main_thread():
        error = _for_main.pop()
    if error is not None:
        _interrupted.pop()
        raise error


def _failed_path(error: BaseException, where: Anything) -> None:
    """Has the assignment raise what a key path of an observer has raised meanwhile; without one, as on a thread of C, it is reported."""
    try:
        caller: Anything = sys._getframe(2)
    except ValueError:
        caller = None
    if caller is None or str(caller.f_globals.get("__name__")).rpartition(".")[0] != _PACKAGE:
        _failed(error, where)
    elif _thread.interrupt is None:
        _interrupt(error)
