"""What the lists and sets of objects have in common: their copies, also deep and pickled ones, are plain lists and sets."""

from __future__ import annotations

import copy
from collections.abc import Iterable, MutableSequence
from typing import Any as Anything, TypeVar

E = TypeVar("E")


class _Copied:
    """A list or set of an object. `_plain` is the type of its copies."""

    __slots__ = ()
    _plain: type = list

    def copy(self) -> Anything:
        """Returns a plain list or set of the elements, which notifies nobody."""
        return self._plain(self)

    def __copy__(self) -> Anything:
        return self._plain(self)

    def __deepcopy__(self, memo: dict) -> Anything:
        return copy.deepcopy(self._plain(self), memo)

    def __reduce__(self) -> tuple:
        return self._plain, (list(self),)  # type: ignore[call-overload]


class _List(_Copied, MutableSequence[E]):
    """Like a list, it makes plain lists by + and *."""

    __slots__ = ()

    def __add__(self, other: Iterable[E]) -> list[E]:
        return list(self) + list(other) if isinstance(other, (list, _List)) else NotImplemented

    def __radd__(self, other: Iterable[E]) -> list[E]:
        return list(other) + list(self) if isinstance(other, (list, _List)) else NotImplemented

    def __mul__(self, times: int) -> list[E]:
        return list(self) * times

    __rmul__ = __mul__
