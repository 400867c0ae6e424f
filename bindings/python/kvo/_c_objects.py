"""CObject, an object of C, and wrap, which gives the object of Python for an address."""

from __future__ import annotations

import ctypes as C
import threading
import weakref
from collections.abc import Iterable
from typing import Any as Anything, Optional, TYPE_CHECKING

from . import _observation
from ._c_collections import CList, CSet
from ._decoding import _read, _Reading
from ._encoding import _Encoded, _unqualified, _utf8
from ._errors import _check, _DYING, _error, _INVALID, _OK, _UNDEFINED
from ._guards import _guarded
from ._library import (
    _cancel, _class_find, _class_name, _class_property, _class_property_at, _class_property_count, _get_value, _key_hash, _object_class,
    _object_destroy, _observe_death, _property_name, _property_type, _set_value, _track_read, _tracking,
)  # fmt: skip
from ._memory import _calls
from ._objects import _name_of_class
from ._observable import address_of, _instances, _Observable
from ._observation import _lasting, _numbers
from ._types import _address, _Ask, _Callback, _Destroy, _Evaluate, _ObserverOps, _Same

_proxies: "weakref.WeakValueDictionary[int, CObject]" = weakref.WeakValueDictionary()
_proxies_lock = threading.RLock()


def _class_named(name: str) -> int:
    """The class of this name, at its address."""
    found = _class_find(_utf8(name))
    if not found:
        raise _error(_INVALID, f"the class '{name}' has ended")
    return found


def _encodings(cls: int) -> dict[str, str]:
    """The keys of a class, with inherited ones, and their type encodings."""
    every = [_class_property_at(cls, index) for index in range(_class_property_count(cls))]
    return {_property_name(one).decode(): _property_type(one).decode() for one in every}


class CObject(_Observable):
    """An object of C: its properties are attributes, its to-many properties lists and sets.

    Once the object has died, they raise an Error."""

    __slots__ = ("_kvo_address", "_kvo_owned", "_kvo_owner", "_kvo_death", "_kvo_observations", "_kvo_kept", "_kvo_changes", "__weakref__")
    if TYPE_CHECKING:
        _kvo_kept: dict[Anything, Anything]
        _kvo_changes: int
        _kvo_owned: bool
        _kvo_owner: "_Owner"
        _kvo_death: "_Death"

    def __init__(self) -> None:
        raise TypeError("an object of C is made by kvo.wrap or CClass.create")

    @property
    def _as_parameter_(self) -> C.c_void_p:
        return C.c_void_p(address_of(self))

    def check_key(self, key: str) -> str:
        """Returns the type encoding of a key."""
        cls = _object_class(address_of(self))
        found = _class_property(cls, _utf8(key))
        if not found:
            raise _error(_UNDEFINED, f"'{_class_name(cls).decode()}' has no property '{key}'")
        return _unqualified(_property_type(found).decode())

    def __getitem__(self, key: str) -> Anything:
        """The value of a key; object["key"] is for keys that are no identifiers."""
        encoding = self.check_key(key)
        address, text = address_of(self), _utf8(key)
        if _tracking.value:
            _track_read(address, _key_hash(text, len(text)))
        if encoding[0] == "[":
            return CList(self, key, encoding[1:-1])
        if encoding[0] == "<":
            return CSet(self, key, encoding[1:-1])
        with _Reading() as reading:
            _check(_get_value(address, text, _read, reading.key), key)
        return reading.value

    def __setitem__(self, key: str, value: Anything) -> None:
        if isinstance(value, (CList, CSet)) and value._owner is self and value._key == _utf8(key):
            return  # after += and |=, which have told their change
        encoded = _Encoded(value, self.check_key(key))
        try:
            _guarded(_set_value, address_of(self), _utf8(key), C.byref(encoded.view), what=key)
        finally:
            if (isinstance(value, _Observable) or key in self._kvo_kept) and self._kvo_address:
                self._keep(key)

    def __getattr__(self, key: str) -> Anything:
        if key.startswith("_"):
            raise AttributeError(key)
        return self[key]

    def __setattr__(self, key: str, value: Anything) -> None:
        if key.startswith("_kvo"):
            object.__setattr__(self, key, value)
        else:
            self[key] = value

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *_encodings(_class_named(_name_of_class(self)))]

    def destroy(self) -> None:
        """Destroys an object that CClass.create has made. Its observations end."""
        if not self._kvo_owned:
            raise _error(_INVALID, "the object belongs to C")
        object.__setattr__(self, "_kvo_owned", False)
        _owned.discard(address_of(self))
        _object_destroy(address_of(self))

    def release(self) -> int:
        """Leaves an object that CClass.create has made to C, which has to destroy it. Returns its address."""
        self._kvo_owned = False
        _owned.discard(address_of(self))
        for observation in self._kvo_observations:
            observation._object = lambda: self
            _lasting[observation._number] = observation
        self._kvo_observations = set()
        if self._kvo_kept:
            self._keeper()
        return address_of(self)

    def __reduce_ex__(self, protocol: Anything) -> Anything:
        raise TypeError("an object of C can neither be copied nor pickled")

    def __repr__(self) -> str:
        return f"<CObject {_name_of_class(self)} at {self._kvo_address:#x}>" if self._kvo_address else "<CObject, dead>"

    def _keeper(self) -> dict[Anything, Anything]:
        """What Python has put into it, which it keeps until it dies: by key, and elements with their number by identity."""
        if not self._kvo_owned:
            _keepers[self._kvo_address] = self
        return self._kvo_kept

    def _keep(self, key: str) -> None:
        """Keeps what a property has now: a handler may have set another object meanwhile."""
        with _Reading() as reading:
            status = _get_value(self._kvo_address, _utf8(key), _read, reading.key)
        if status == _OK:
            self._keeper()[key] = reading.value

    def _keep_element(self, value: Anything, by: int) -> None:
        if not isinstance(value, _Observable):
            return
        kept = self._keeper()
        times = kept.get(id(value), (value, 0))[1] + by
        if times > 0:
            kept[id(value)] = value, times
        else:
            kept.pop(id(value), None)

    def _own(self) -> None:
        self._kvo_owned = True
        _owned.add(self._kvo_address)
        self._kvo_owner = _Owner(self._kvo_address)


_owned: set[int] = set()
"""The addresses of the objects of C that Python destroys."""
_keepers: dict[int, CObject] = {}
"""The objects of C that C destroys and that keep something."""


class _Death(C.c_uint64):
    """The observation of the death of an object of C. It is cancelled with the CObject: not before all weak references to that are
    cleared, or another thread could get it once more while cancel waits."""

    address: int = 0

    def __del__(self, owned: Anything = _owned, cancel: Anything = _cancel) -> None:
        if self.value and self.address not in owned:
            cancel(self.value)


class _Owner(int):
    """Destroys the object of C at this address after the last reference to its CObject. The collector does not see an int: it deallocates
    it after it has finished all objects of a cycle."""

    __slots__ = ()

    def __del__(self, owned: Anything = _owned, destroy: Anything = _object_destroy, calls: Anything = _calls) -> None:
        if self not in owned:
            return
        if calls.depth:
            calls.keep(type(self)(self))
        else:
            owned.discard(self)
            destroy(self)


_deaths: dict[int, "weakref.ref[CObject]"] = {}


_dying: dict[int, Anything] = {}
"""What objects of C keep that are dying, by the numbers of their deaths."""


def _leave(number: int, found: Optional[CObject]) -> None:
    """Takes its address from a CObject, with the lock."""
    if found is None or not found._kvo_address:
        return
    _owned.discard(found._kvo_address)
    if _proxies.get(found._kvo_address) is found:
        del _proxies[found._kvo_address]
    _dying[number] = _keepers.pop(found._kvo_address, None), found._kvo_kept
    found._kvo_kept = {}
    found._kvo_address = 0


@_Ask
def _dies(observation: int, number: int) -> None:
    """The death begins. Neither a handler that has caused it nor what is evaluated because of it may use the object any more."""
    with _proxies_lock:
        found = _deaths[number]()  # released without the lock
        _leave(number, found)


@_Destroy
def _died(number: int) -> None:
    with _proxies_lock:
        found = _deaths.pop(number)()  # released without the lock, as what it has kept
        _leave(number, found)
        kept = _dying.pop(number, None)  # noqa: F841


_death_ops = _ObserverOps(_Callback(), _died, _Destroy(), _Evaluate(), _Callback(), _Same(), None, _dies)


def _pointed(pointer: Anything) -> Optional[int]:
    """The address that a pointer of ctypes or an int is."""
    if isinstance(pointer, C._Pointer):  # type: ignore[attr-defined]
        pointer = C.cast(pointer, _address)
    if isinstance(pointer, C._SimpleCData):
        pointer = pointer.value
    if pointer is None:
        return None
    if isinstance(pointer, bool) or not isinstance(pointer, int):
        raise TypeError(f"the address of an object of C was expected, not {type(pointer).__name__}")
    if pointer and (not 4096 <= pointer < 1 << 8 * C.sizeof(_address) or pointer % C.sizeof(_address)):
        raise ValueError(f"{pointer:#x} is no address of an object of C")
    return pointer


def _wrapped(address: Optional[int]) -> Anything:
    """The object at an address that C passes; None for NULL, and for an object that has ended or is being collected."""
    if not address:
        return None
    known = _instances.get(address)
    if known is not None:
        return known()
    with _proxies_lock:
        found = _proxies.get(address)
        if found is not None:
            return found
        if not _object_class(address):
            return None
        found = object.__new__(CObject)
        found._kvo_owned, found._kvo_death, found._kvo_address = False, _Death(), address
        found._kvo_death.address = address
        found._kvo_observations, found._kvo_kept, found._kvo_changes = set(), {}, 0
        _proxies[address] = found
    if _observation.is_over:
        return found
    number = next(_numbers)
    _deaths[number] = weakref.ref(found)
    status = _observe_death(address, C.byref(_death_ops), number, C.byref(found._kvo_death))
    if status != _OK:
        _died(number)
        if status != _DYING:
            _check(status)
        return None
    return found


def wrap(pointer: Anything) -> Anything:
    """The Python object for a kvo_object of this address: an Object that Python has made, otherwise a CObject. None for NULL."""
    address = _pointed(pointer)
    found = _wrapped(address)
    if address and found is None:
        raise _error(_INVALID, f"there is no object at {address:#x}")
    return found
