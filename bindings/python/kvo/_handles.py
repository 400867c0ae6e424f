"""Handles: the numbers that stand for values of Python in the runtime."""

from __future__ import annotations

import ctypes as C
import itertools
from typing import Any as Anything, Optional

from ._types import _argument, _Callback, _Frame


class _Old(list):
    """A value before a change, in a list of one."""

    __slots__ = ()


class _Now(list):
    """The value of a key at the time when it is read: a __dict__ and the key. Observers of a change get it instead of the value."""

    __slots__ = ()


class _Elements(list):
    """What a List keeps in the object's __dict__."""

    __slots__ = ()


_values: dict[int, Anything] = {}
"""What the runtime holds, by numbers that it takes for addresses: it never uses what is there. If an exception ends a function that C
calls, before its first line, then ctypes returns any number; one that is unknown here stands for no value."""
_value_numbers = itertools.count(1 << 12, 16)


def _kept(value: Anything) -> int:
    number = next(_value_numbers)
    _values[number] = value
    return number


@_Callback
def _release(value: int, user: int) -> None:
    _values.pop(value, None)


def _value(number: Optional[int]) -> Anything:
    """The value that C passes; None for NULL."""
    found: Anything = _values.get(number)  # type: ignore[arg-type]
    kind = found.__class__
    found = found[0] if kind is _Old else found[0][found[1]] if kind is _Now else found
    return list(found) if found.__class__ is _Elements else found


_memories: list[Anything] = []
_nows: dict[int, _Now] = {}


def _setting() -> tuple[Anything, ...]:
    """What a change of a property needs, made once and used again: a frame, and what stands for the values, each also as an argument."""
    memory, old, now = _Frame(), _Old([None]), _Now([None, None])
    _memories.append(memory)
    number = _kept(now)
    _nows[number] = now
    return _argument(C.addressof(memory)), old, _argument(_kept(old)), now, _argument(number)
