"""Converts values of C to values of Python, and receives them from readers.

A value may be an object of C, whose properties are read by this module: the one cycle of imports in the package, so _c_objects is imported
when such a value is read.
"""

from __future__ import annotations

import itertools
from typing import Any as Anything, Optional

from ._encoding import _plain, _type_of, _unqualified
from ._errors import _check
from ._library import _value_collection, _value_count, _value_element
from ._types import _Reader, _Value


def _decode(value: Optional[int]) -> Anything:
    """The Python value of a kvo_value at an address. Values that only another language can interpret are their addresses,
    and objects that have ended or are being collected are None."""
    if not value:
        return None
    view = _Value.from_address(value)
    if not view.bytes:
        return None
    encoding = _unqualified((view.type or b"?").decode())
    code = encoding[:1]
    if code in "[<" and _value_collection(value):
        elements: list[Anything] = []
        for position in range(_value_count(value)):
            with _Reading() as reading:
                _check(_value_element(value, position, _read, reading.key))
            elements.append(reading.value)
        return elements
    if code == "?":
        return view.bytes
    found = _plain(_type_of(encoding).from_address(view.bytes)) if code in "{[" else _type_of(encoding).from_address(view.bytes).value
    if code == "*":
        return None if found is None else found.decode("utf-8", "surrogateescape")
    if code == "@":
        from ._c_objects import _wrapped

        return _wrapped(found)
    return found


class _Reading:
    """Receives a value from a reader."""

    made = itertools.count(1)
    open: dict[int, "_Reading"] = {}

    def __enter__(self) -> "_Reading":
        self.key = next(_Reading.made)
        self.values: list[Anything] = []
        self.error: Optional[BaseException] = None
        _Reading.open[self.key] = self
        return self

    def __exit__(self, *_: Anything) -> None:
        del _Reading.open[self.key]
        if self.error is not None:
            raise self.error

    @property
    def value(self) -> Anything:
        return self.values[0] if self.values else None


@_Reader
def _read(value: int, key: int) -> None:
    try:
        _Reading.open[key].values.append(_decode(value))
    except BaseException as error:
        _Reading.open[key].error = error
