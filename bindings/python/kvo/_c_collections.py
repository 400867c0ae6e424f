"""The lists and sets of objects of C."""

from __future__ import annotations

import ctypes as C
import operator
from collections.abc import Callable, Iterable, Iterator, MutableSet
from typing import Any as Anything, TYPE_CHECKING

from ._copies import _Copied, _List
from ._decoding import _read, _Reading
from ._encoding import _Encoded, _utf8
from ._errors import _check
from ._guards import _guarded
from ._library import (
    _list_count, _list_get, _list_insert, _list_remove, _list_replace, _members_add, _members_contain, _members_count, _members_for_each,
    _members_remove,
)  # fmt: skip
from ._observable import address_of, _Observable
from ._types import _size

if TYPE_CHECKING:
    from ._c_objects import CObject


def _change(owner: CObject, old: Anything, new: Anything, function: Callable[..., int], *arguments: Anything) -> None:
    """Calls a function that takes out an element and puts one in, each None if it does not, and has the owner keep what is there. If a
    handler makes another change, what was removed need not be the old element: then the owner keeps it until it dies."""
    status = 0

    def make(*arguments: Anything) -> int:
        nonlocal status
        status = function(*arguments)
        return status

    owner._keep_element(new, 1)
    owner._kvo_changes += 1
    change = owner._kvo_changes
    try:
        _guarded(make, *arguments)
    finally:  # an error of a handler leaves the status 0, because the change was made
        if status != 0:
            owner._keep_element(new, -1)
    if owner._kvo_changes == change and owner._kvo_kept:
        owner._keep_element(old, -1)


class CList(_List):
    """A list of an object of C. Its mutations notify."""

    def __init__(self, owner: CObject, key: str, element: str) -> None:
        self._owner, self._key, self._element = owner, _utf8(key), element

    def __len__(self) -> int:
        count = _size()
        _check(_list_count(address_of(self._owner), self._key, C.byref(count)))
        return count.value

    def _at(self, index: int) -> int:
        return range(len(self))[index]

    def __getitem__(self, index: Anything) -> Anything:
        if isinstance(index, slice):
            return [self[one] for one in range(len(self))[index]]
        with _Reading() as reading:
            _check(_list_get(address_of(self._owner), self._key, self._at(index), _read, reading.key))
        return reading.value

    def __setitem__(self, index: Anything, value: Anything) -> None:
        encoded = _Encoded(value, self._element)
        at = self._at(index)
        old = self._kept_at(at)
        _change(self._owner, old, value, _list_replace, address_of(self._owner), self._key, at, C.byref(encoded.view))

    def __delitem__(self, index: Anything) -> None:
        indexes = sorted(range(len(self))[index], reverse=True) if isinstance(index, slice) else [self._at(index)]
        for one in indexes:
            _change(self._owner, self._kept_at(one), None, _list_remove, address_of(self._owner), self._key, one)

    def _kept_at(self, at: int) -> Anything:
        """The element there, if it may be an object that the owner keeps."""
        return self[at] if self._owner._kvo_kept and self._element[:1] in "@?" else None

    def insert(self, index: int, value: Anything) -> None:
        count = len(self)
        at = max(0, index + count) if index < 0 else min(index, count)
        encoded = _Encoded(value, self._element)
        _change(self._owner, None, value, _list_insert, address_of(self._owner), self._key, at, C.byref(encoded.view))

    def __imul__(self, times: int) -> "CList":  # type: ignore[override]
        times = operator.index(times)
        if times > 0:
            self.extend(list(self) * (times - 1))
        else:
            del self[:]
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (CList, list)) and list(self) == list(other)

    def __repr__(self) -> str:
        return repr(list(self)) if self._owner._kvo_address else "<CList, dead>"


class CSet(_Copied, MutableSet):
    """A set of an object of C. Its mutations notify."""

    _plain = set

    def __init__(self, owner: CObject, key: str, element: str) -> None:
        self._owner, self._key, self._element = owner, _utf8(key), element

    @classmethod
    def _from_iterable(cls, values: Iterable) -> set:  # type: ignore[override]
        return set(values)

    def __len__(self) -> int:
        count = _size()
        _check(_members_count(address_of(self._owner), self._key, C.byref(count)))
        return count.value

    def __contains__(self, value: object) -> bool:
        try:
            encoded, found = _Encoded(value, self._element), C.c_bool()
        except (TypeError, ValueError, OverflowError):
            return False
        _check(_members_contain(address_of(self._owner), self._key, C.byref(encoded.view), C.byref(found)))
        return found.value

    def __iter__(self) -> Iterator:
        with _Reading() as reading:
            _check(_members_for_each(address_of(self._owner), self._key, _read, reading.key))
        return iter(reading.values)

    def add(self, value: Anything) -> None:
        encoded = _Encoded(value, self._element)
        old = value if isinstance(value, _Observable) and value in self else None  # then it is not put in
        _change(self._owner, old, value, _members_add, address_of(self._owner), self._key, C.byref(encoded.view))

    def discard(self, value: Anything) -> None:
        if value in self:
            encoded = _Encoded(value, self._element)
            _change(self._owner, value, None, _members_remove, address_of(self._owner), self._key, C.byref(encoded.view))

    def __repr__(self) -> str:
        return repr(set(self)) if self._owner._kvo_address else "<CSet, dead>"
