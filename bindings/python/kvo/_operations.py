"""How the runtime uses the values of Python: it copies, releases, compares, sets and shows them to C."""

from __future__ import annotations

import ctypes as C
from collections.abc import Callable
from typing import Any as Anything, Optional

from ._decoding import _decode
from ._encoding import _Encoded
from ._errors import _MISMATCH, _OK, _READ_ONLY
from ._handles import _kept, _release, _value
from ._lists import List
from ._observable import _instance, _Observable
from ._property import computed, _properties
from ._reports import _failed
from ._types import _address, _Assign, _Collection, _Copy, _Element, _Same, _Selection, _Value, _ValueOps, _View


@_Copy
def _copy(instance: int, user: int, selection: Optional[int]) -> Optional[int]:
    try:
        found, of = _instance(instance), _properties[user - 1]
        if found is None:  # it is being collected: its value is nil
            return _kept(None)
        value = of.function(found) if isinstance(of, computed) else found.__dict__[of.name]
        if isinstance(of, List):
            value = list(value)
            if selection:
                chosen = _Selection.from_address(selection)
                value = [value[index] for index in chosen.indexes[: chosen.count] if index < len(value)]
        return _kept(value)
    except BaseException as error:
        _failed(error, f"property {user}")
        return None


def _encoded(value: Anything, encoding: str) -> _Encoded:
    """A value as C sees it. An object of C that has died is nil, and so is every property of an object that is being collected."""
    if isinstance(value, _Observable) and not value._kvo_address:
        value = None
    return _Encoded(value, encoding if value is not None or encoding[0] in "*@^#:?" else "@")


@_View
def _view(value: int, user: int, reader: Callable[..., None], arg: int) -> None:
    try:
        found, of = _value(value), _properties[user - 1]
        shown = _ShownList(found, of) if isinstance(of, List) and found is not None else _encoded(found, of.encoding)
    except BaseException as error:
        _failed(error, f"property {user}")
        shown = _Encoded(None, "@")
    reader(C.addressof(shown.view), arg)
    if isinstance(shown, _ShownList):
        del _ShownList.open[shown.key]


class _ShownList:
    """A list as C sees it, while a reader uses it."""

    open: dict[int, "_ShownList"] = {}

    def __init__(self, elements: list, of: List) -> None:
        self.elements, self.encoding = elements, of.element.encoding
        self.collection = _Collection(C.sizeof(_Collection), len(elements), C.cast(_element, _address))
        self.key = C.addressof(self.collection)
        self.view = _Value(of.encoding.encode(), C.sizeof(_Collection), self.key)
        self.open[self.key] = self


@_Element
def _element(collection: int, position: int, reader: Callable[..., None], arg: int) -> int:
    try:
        shown = _ShownList.open[collection]
        encoded = _encoded(shown.elements[position], shown.encoding)
    except BaseException as error:
        _failed(error, "an element of a list")
        return _MISMATCH
    reader(C.addressof(encoded.view), arg)
    return _OK


@_Assign
def _assign(instance: int, user: int, value: int) -> int:
    try:
        found, of = _instance(instance), _properties[user - 1]
        if isinstance(of, computed):
            return _READ_ONLY
        if found is None:
            return _OK
        converted = of.convert(_decode(value))
    except BaseException:
        return _MISMATCH
    try:
        of.__set__(found, converted)
    except BaseException as error:
        _failed(error, of)
    return _OK


@_Same
def _same(one: int, other: int, user: int) -> bool:
    try:
        return bool(_value(one) == _value(other))
    except BaseException:
        return False


_ops = _ValueOps(_copy, _release, _view, _assign, _same)
