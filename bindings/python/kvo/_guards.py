"""Guards: misuse that would end the process, in a call of C, raises an error instead."""

from __future__ import annotations

import ctypes as C
import threading
from collections.abc import Callable
from typing import Any as Anything

from ._errors import _check, _error, _UNDEFINED
from ._library import _get_fault_handler, _set_fault_handler
from ._memory import _calls
from ._reports import _failed, _interrupted, _raise_interrupt
from ._types import _address, _Fault, _Handler


class _Thread(threading.local):
    """The first fault since the innermost guard of the thread began."""

    fault: str = ""
    fault_code: int = 0


_thread = _Thread()


# An undefined key, a malformed key path, one through a collection, a value or an operator that does not fit it: in C a status says so.
_SURVIVED, _WRONG_KEYS = 1, (9, 10, 18, 26, 36)


@_Handler
def _on_fault(fault: int, arg: int) -> int:
    try:
        report = _Fault.from_address(fault)
        is_wrong_key = report.severity == _SURVIVED and report.code in _WRONG_KEYS
        if report.severity != 0 and not is_wrong_key:  # not fatal: it is logged
            return 0
        if not _thread.fault:
            _thread.fault, _thread.fault_code = report.summary.decode("utf-8", "replace"), report.code
    except BaseException as error:
        _failed(error, "a fault")
    return 1


def _in_guard(function: Callable[..., Anything], *arguments: Anything) -> Anything:
    """Calls a function. Misuse that would end the process, in the calls of C inside, raises an error at the end: of the status that the
    function returns, if it returns one. Guards may be nested."""
    outer_arg = _address()
    outer = _get_fault_handler(C.byref(outer_arg))
    outer_fault, depth = (_thread.fault, _thread.fault_code), _calls.depth
    try:
        _calls.depth = depth + 1
        _thread.fault, _thread.fault_code = "", 0
        _set_fault_handler(_on_fault, None)
        result = function(*arguments)
    finally:  # a signal handler may raise after each call of a function, and when one of Python begins
        fault, code = _thread.fault, _thread.fault_code
        _thread.fault, _thread.fault_code = outer_fault
        _calls.depth = depth
        _set_fault_handler(outer, outer_arg)
        _calls.leave()
    if fault:
        raise _error(result or (_UNDEFINED if code == 9 else -15), fault)
    return result


def _guarded(function: Callable[..., int], *arguments: Anything, what: str = "") -> None:
    """Calls a function whose misuse would end the process, and raises an error instead."""
    _check(_in_guard(function, *arguments), what)
    if _interrupted:
        _raise_interrupt()


_read_by_c: set[int] = set()
"""The observations of key paths that C reads. While there is one, a set may make a fault."""
