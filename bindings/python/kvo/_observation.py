"""Observation, a registration of a handler, and Change, which handlers get."""

from __future__ import annotations

import ctypes as C
import itertools
import operator
import weakref
from collections.abc import Callable
from typing import Any as Anything, Optional

from ._decoding import _read, _Reading
from ._encoding import _utf8
from ._errors import _check
from ._guards import _guarded, _read_by_c
from ._library import _cancel, _cancel_and_wait, _get_value, _is_paused, _is_registered, _pause, _resume
from ._objects import Object
from ._observable import address_of
from ._types import SETTING


class Change(tuple):
    """What a handler gets. `old` and `new` are None unless they were asked for; for an insertion, a removal or a replacement they are
    lists of the elements at `indexes`."""

    __slots__ = ()
    kind: int = SETTING
    indexes: Optional[list[int]] = None
    is_prior: bool = False
    observation: "Observation" = property(operator.itemgetter(0))  # type: ignore[assignment]
    old: Anything = property(operator.itemgetter(1))
    new: Anything = property(operator.itemgetter(2))

    @property
    def object(self) -> Anything:
        """The object that was passed to observe."""
        return self.observation.object

    @property
    def key_path(self) -> str:
        return self.observation.key_path

    def __repr__(self) -> str:
        return f"<Change of {self.key_path}: {self.old!r} -> {self.new!r}>"


class _DetailedChange(Change):
    __slots__ = ()
    kind = property(operator.itemgetter(3))  # type: ignore[assignment]
    indexes = property(operator.itemgetter(4))  # type: ignore[assignment]
    is_prior = property(operator.itemgetter(5))  # type: ignore[assignment]


class Observation:
    """A registration. It lasts until close(), the end of a with block, or the death of the object; it need not be kept."""

    __slots__ = ("key_path", "_id", "_number", "_object", "_handler", "_wants", "_evaluate", "_owner", "_is_path", "_held", "__weakref__")

    def __init__(self, found: Anything, key_path: str, handler: Callable[[Change], Anything], wants: int) -> None:
        self.key_path, self._handler, self._wants = key_path, handler, wants
        self._object: Callable[[], Anything] = weakref.ref(found) if _keeps(found) else lambda: found
        self._id = C.c_uint64()
        self._evaluate: Optional[Callable[[], Anything]] = None
        self._is_path = False
        self._held: Anything = None
        self._owner: Anything = None
        self._number = next(_numbers)
        _observations[self._number] = weakref.ref(self)

    @property
    def object(self) -> Anything:
        """The observed object; None if it is dead."""
        return self._object()

    @property
    def is_active(self) -> bool:
        return bool(self._id.value) and _is_registered(self._id.value)

    def close(self, wait: bool = False) -> None:
        """Ends the observation, if it has not ended. After that no call of the handler begins; with `wait`, none is running on another
        thread any more."""
        if self._id.value:
            (_cancel_and_wait if wait else _cancel)(self._id.value)
        self._forget()

    def pause(self) -> None:
        """Changes are not told until resume()."""
        found = self.object
        is_read_by_c = not isinstance(found, Object) or "@" in self.key_path
        if found is not None and self._evaluate is None and is_read_by_c and self.is_active and not self.is_paused:
            with _Reading() as reading:  # what C keeps as the old value keeps no object
                _get_value(address_of(found), _utf8(self.key_path), _read, reading.key)
            self._held = reading.value
        _check(_pause(self._id.value), self.key_path)

    def resume(self, tell_missed: bool = True) -> None:
        """Ends the pause; what was changed meanwhile is told once, if `tell_missed`."""
        held, self._held = self._held, None  # a handler may pause the observation again, and then another value is held
        _guarded(_resume, self._id.value, bool(tell_missed), what=self.key_path)
        del held

    @property
    def is_paused(self) -> bool:
        return _is_paused(self._id.value)

    def _forget(self) -> None:
        self._held = None
        _observations.pop(self._number, None)
        _lasting.pop(self._number, None)
        _read_by_c.discard(self._number)
        found = self._object()
        if found is not None:
            found._kvo_observations.discard(self)

    def __enter__(self) -> "Observation":
        return self

    def __exit__(self, *_: Anything) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Observation of {self.key_path}{'' if self.is_active else ', ended'}>"


def _keeps(found: Anything) -> bool:
    """Whether an object, which Python owns, keeps its observations."""
    return isinstance(found, Object) or found._kvo_owned


_numbers = itertools.count(1)
_observations: dict[int, "weakref.ref[Observation]"] = {}
_lasting: dict[int, Observation] = {}
"""Those of the objects that C owns; the others are kept by the object that they observe."""

is_over = False
"""Whether the interpreter ends, so that no observation may begin. Other modules use it as _observation.is_over, because it changes."""
