"""The types of properties with one value."""

from __future__ import annotations

import ctypes as C
from typing import Any as Anything, Optional

from ._encoding import _integer, _real, _truth, _utf8
from ._observable import _Observable
from ._property import Property


class Any(Property[Anything]):
    """A property of any type. C sees numbers, strings and objects; other values it cannot interpret."""


class Double(Property[float]):
    """A property that is a double in C."""

    encoding = "d"
    convert = staticmethod(_real)  # type: ignore[assignment]

    def __init__(self, default: float = 0.0, **more: Anything) -> None:
        super().__init__(default, **more)


class Int(Property[int]):
    """A property that is a long long in C: 64 bits."""

    encoding = "q"

    def __init__(self, default: int = 0, **more: Anything) -> None:
        super().__init__(default, **more)

    def convert(self, value: Anything) -> int:
        return _integer(value, "q", C.c_longlong)


class Bool(Property[bool]):
    """A property that is a bool in C."""

    encoding = "B"
    convert = staticmethod(_truth)  # type: ignore[assignment]

    def __init__(self, default: bool = False, **more: Anything) -> None:
        super().__init__(default, **more)


class String(Property[Optional[str]]):
    """A property that is a char * in C: a str without NUL, or None."""

    encoding = "*"

    def __init__(self, default: Optional[str] = "", **more: Anything) -> None:
        super().__init__(default, **more)

    def convert(self, value: Anything) -> Optional[str]:
        if value is not None:
            _utf8(value)
        return value


class Reference(Property[Anything]):
    """A property that is an observable object, of Python or C, or None."""

    encoding = "@"

    def convert(self, value: Anything) -> Anything:
        if value is not None and not isinstance(value, _Observable):
            raise TypeError(f"an observable object was expected, not {type(value).__name__}")
        return value
