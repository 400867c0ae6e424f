"""Object, the base of classes with observable properties, and changing, which announces a change that no setter makes."""

from __future__ import annotations

import ctypes as C
import weakref
from typing import Any as Anything, TYPE_CHECKING

from ._encoding import _utf8
from ._errors import _check, _error, _OK, _UNDEFINED
from ._guards import _in_guard
from ._handles import _Elements
from ._library import (
    _class_name, _class_property, _class_register, _did_change, _object_class, _object_finish, _object_init, _object_is_observed,
    _will_change,
)  # fmt: skip
from ._memory import _calls
from ._observable import address_of, _instances, _Observable
from ._operations import _ops
from ._property import Property
from ._reports import _interrupted, _raise_interrupt
from ._types import _address, _argument, _ClassSpec, _PropertySpec


class _Word(C.c_size_t):
    """The header of an object, in memory of its own. It is finished with the object, also if a subclass has a __del__ of its own. The
    collector finishes all objects of a cycle before it frees the memory of one."""

    def __del__(
        self, finish: Anything = _object_finish, address: Anything = C.addressof, known: Anything = _instances, calls: Anything = _calls
    ) -> None:
        if self.value:
            finish(address(self))
        known.pop(address(self), None)
        calls.keep(self)


class Object(_Observable):
    """An object with observable properties: class Document(kvo.Object): title = kvo.String("Untitled")

    Each subclass is a class of the runtime. The object's observations end when it is deallocated."""

    __slots__ = ("_kvo_word", "_kvo_address", "_kvo_argument", "_kvo_observations", "__dict__", "__weakref__")
    _kvo_class = 0
    _kvo_properties: dict[str, Property] = {}
    if TYPE_CHECKING:
        _kvo_word: _Word
        _kvo_argument: Anything

    def __init_subclass__(cls, **more: Anything) -> None:
        super().__init_subclass__(**more)
        base = next(one for one in cls.__mro__[1:] if issubclass(one, Object))
        found = {name: one for part in reversed(cls.__mro__) for name, one in vars(part).items() if isinstance(one, Property)}
        for name, one in found.items():
            hiding, *_ = (part for part in cls.__mro__ if name in vars(part))
            if vars(hiding)[name] is not one:
                owner = next(part for part in cls.__mro__ if vars(part).get(name) is one)
                raise TypeError(
                    f"'{name}' in {hiding.__name__} hides the property '{name}' of {owner.__name__}, and its observers would not be told: "
                    f"make it a property of kvo, such as kvo.{type(one).__name__}, or assign the value in __init__"
                )
        own = [one for name, one in found.items() if base._kvo_properties.get(name) is not one]
        specs = (_PropertySpec * len(own))()
        for spec, one in zip(specs, own):
            spec.name, spec.type, spec.user, spec.flags = one.name.encode(), one.encoding.encode(), one.number, one.flags
            spec.ops = C.pointer(_ops)
        made = _address()
        described = _ClassSpec(
            C.sizeof(_ClassSpec), cls.__name__.encode(), base._kvo_class or None, 0, specs, len(own), C.sizeof(_PropertySpec)
        )
        _check(_class_register(C.byref(described), C.byref(made)), cls.__name__)
        cls._kvo_class = made.value or 0
        cls._kvo_properties = found

    def __new__(cls, *arguments: Anything, **more: Anything) -> Anything:
        if cls is Object:
            raise TypeError("make a subclass of kvo.Object")
        self = super().__new__(cls)
        word = _Word()
        self._kvo_address = C.addressof(word)
        self._kvo_argument = _argument(self._kvo_address)
        self._kvo_observations = set()
        values = self.__dict__
        for name, one in cls._kvo_properties.items():
            if not one.flags:
                values[name] = one.first()
        _instances[self._kvo_address] = weakref.ref(self)
        _object_init(self._kvo_address, cls._kvo_class)
        self._kvo_word = word
        return self

    def __init__(self, **values: Anything) -> None:
        for name, value in values.items():
            if name not in self._kvo_properties:
                raise TypeError(f"{type(self).__name__} has no property '{name}'")
            setattr(self, name, value)

    def __getstate__(self) -> dict:
        return {name: _Elements(value) if value.__class__ is _Elements else value for name, value in self.__dict__.items()}

    @property
    def is_observed(self) -> bool:
        """Whether the object has an observation, also on behalf of a key path of another object."""
        return _object_is_observed(self._kvo_address)


def _name_of_class(found: Anything) -> str:
    return type(found).__name__ if isinstance(found, Object) else (_class_name(_object_class(found._kvo_address)) or b"").decode()


class changing:
    """with kvo.changing(object, "key"): announces a change that no setter makes."""

    def __init__(self, found: Anything, key: str) -> None:
        self._object, self._key = found, _utf8(key)
        if not _class_property(_object_class(address_of(found)), self._key):
            raise _error(_UNDEFINED, f"'{_name_of_class(found)}' has no key '{key}'")

    def __enter__(self) -> None:
        statuses: list[int] = []
        try:
            self._announce(_will_change, statuses)
        except BaseException:
            if statuses == [_OK]:
                self.__exit__()
            raise

    def __exit__(self, *_: Anything) -> None:
        statuses: list[int] = []
        try:
            self._announce(_did_change, statuses)
        finally:
            if not statuses:
                self._announce(_did_change, statuses)

    def _announce(self, function: Anything, statuses: list[int]) -> None:
        """A signal handler may raise after each call: this one call adds the status, too."""
        _in_guard(statuses.extend, map(function, (address_of(self._object),), (self._key,)))
        _check(*statuses)
        if _interrupted:
            _raise_interrupt()
