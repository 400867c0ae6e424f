"""Properties: the base class of their types, and computed properties."""

from __future__ import annotations

import ctypes as C
from collections.abc import Callable
from typing import Any as Anything, Generic, Optional, overload, TYPE_CHECKING, TypeVar

from ._errors import _error, _READ_ONLY
from ._guards import _in_guard, _read_by_c
from ._handles import _setting
from ._library import _begin, _end, _finish, _key_hash, _stored, _track_read, _tracking, _will
from ._reports import _interrupted, _raise_interrupt
from ._types import _COMPUTED, _WANTS_WILL

if TYPE_CHECKING:
    from ._objects import Object

T = TypeVar("T")

_properties: list["Property[Anything]"] = []
_unused: list[tuple[Anything, ...]] = []
"""What _setting has made and no change uses now. It is in this module, because methods of what is imported take longer to call."""


class Property(Generic[T]):
    """A property of a subclass of Object, of any type. `factory` makes the first value of each object. The subclasses convert what is set,
    and C sees their values as values of the type encoding."""

    encoding = "?"
    name = ""
    key = 0
    flags = 0

    def __init__(self, default: Anything = None, *, factory: Optional[Callable[[], Anything]] = None) -> None:
        self.factory = factory
        self.default = default

    def convert(self, value: Anything) -> T:
        """Returns what is stored for a value, or raises a TypeError or a ValueError."""
        return value

    def first(self) -> Anything:
        return self.convert(self.factory() if self.factory is not None else self.default)

    def __set_name__(self, owner: type, name: str) -> None:
        if self.name:
            raise TypeError(f"one property cannot be both '{self.name}' and '{name}'")
        self.name = name
        text = name.encode()
        self.key = _key_hash(text, len(text))
        self.key_argument = C.c_uint64.from_param(self.key)  # type: ignore[attr-defined]
        _properties.append(self)
        self.number = len(_properties)

    @overload
    def __get__(self, instance: None, owner: Anything) -> "Property[T]": ...
    @overload
    def __get__(self, instance: "Object", owner: Anything) -> T: ...

    def __get__(self, instance: Anything, owner: Anything = None) -> Anything:
        if instance is None:
            return self
        if _tracking.value and instance._kvo_word.value:
            _track_read(instance._kvo_address, self.key)
        return instance.__dict__[self.name]

    def __set__(self, instance: "Object", value: T) -> None:
        value = self.convert(value)
        values, name = instance.__dict__, self.name
        word = instance._kvo_word
        if not word.value & 1:
            values[name] = value
            if word.value & 1:  # another thread has begun to observe
                _stored(instance._kvo_address, self.key)
        elif _read_by_c:
            _in_guard(self._store, instance, value)
        else:
            self._store(instance, value)

    def _store(self, instance: "Object", value: T) -> None:
        """Sets the value of an observed object."""
        values, name = instance.__dict__, self.name
        setting = _unused.pop() if _unused else _setting()
        frame, old, old_argument, now, now_argument = setting
        try:  # a signal handler may raise after each call
            wants = _begin(frame, instance._kvo_argument, self.key_argument)
            if wants:
                old[0] = values[name]
                if wants & _WANTS_WILL:
                    _will(frame, old_argument)
                values[name] = value
                now[0] = values
                now[1] = name
                _finish(frame, old_argument, now_argument)
            else:
                values[name] = value
                _stored(instance._kvo_address, self.key)
        except BaseException:
            _end(frame)
            old[0] = now[0] = None
            _unused.append(setting)
            raise
        old[0] = now[0] = None
        _unused.append(setting)
        if _interrupted:
            _raise_interrupt()

    def __delete__(self, instance: "Object") -> None:
        raise AttributeError(f"the property '{self.name}' cannot be deleted")


class computed(Property[T]):
    """Decorates a method without parameters: a property that is observed through the properties that the method reads."""

    flags = _COMPUTED

    def __init__(self, function: Callable[[Anything], T]) -> None:
        if not callable(function):
            raise TypeError(f"a method was expected, not {type(function).__name__}")
        super().__init__()
        self.function = function
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, instance: None, owner: Anything) -> "computed[T]": ...
    @overload
    def __get__(self, instance: "Object", owner: Anything) -> T: ...

    def __get__(self, instance: Anything, owner: Anything = None) -> Anything:
        if instance is None:
            return self
        if _tracking.value and instance._kvo_word.value:
            _track_read(instance._kvo_address, self.key)
        return self.function(instance)

    def __set__(self, instance: "Object", value: Anything) -> None:
        raise _error(_READ_ONLY, f"the computed property '{self.name}' cannot be set")
