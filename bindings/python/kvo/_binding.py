"""bind and bind_two_way: properties that follow other properties, or a function.

They are bindings as those of kvo_bind.h, which are settled before anyone is told. But values of Python do not pass through C: a binding is
an observation whose handler sets the target, with the same lifetimes and errors."""

from __future__ import annotations

import ctypes as C
import weakref
from collections.abc import Callable
from typing import Any as Anything, Optional

from ._c_objects import CObject
from ._copies import _Copied
from ._delivery import _bound_ops
from ._encoding import _utf8
from ._errors import _check, _error, _READ_ONLY, _UNDEFINED
from ._guards import _guarded, _read_by_c
from ._key_paths import _read_path
from ._library import _cancel, _is_registered, _key_hash, _observe_death, _observe_tracked
from ._objects import Object
from ._observable import address_of
from ._observation import _keeps, _observations, Observation
from ._observing import _kept_by, _living, _place
from ._property import computed
from ._types import _RawObserver, _Callback, _Destroy, _ENDS_WITH_OBJECT, _Evaluate, _ObserverOps, _Same, INITIAL, NEW


class Binding(Observation):
    """A binding. It lasts until close(), the end of a with block, or the death of one of its objects; it need not be kept."""

    __slots__ = ("_watch", "_back")

    def __init__(self, root: Anything, name: str, assign: Callable[[Anything], Anything]) -> None:
        self._watch = C.c_uint64()
        """Of the target's death, unless it is the root."""
        self._back: Optional[Binding] = None
        super().__init__(root, name, assign, NEW)

    def close(self, wait: bool = False) -> None:
        """Ends the binding, if it has not ended; one in two ways in both. With `wait`, no other thread is settling it any more."""
        super().close(wait)
        if self._back is not None:
            self._back.close(wait)

    def pause(self) -> None:
        """The target does not follow until resume()."""
        super().pause()
        if self._back is not None:
            self._back.pause()

    def resume(self, tell_missed: bool = True) -> None:
        """Ends the pause; the target takes what was changed meanwhile, if `tell_missed`."""
        super().resume(tell_missed)
        if self._back is not None:
            self._back.resume(tell_missed)

    def _forget(self) -> None:
        super()._forget()
        self._unwatch()

    def _unwatch(self, cancel: Anything = _cancel) -> None:
        watch, self._watch.value = self._watch.value, 0
        if watch:
            cancel(watch)

    def __del__(self, unwatch: Anything = _unwatch) -> None:
        unwatch(self)

    def __repr__(self) -> str:
        return f"<Binding of {self.key_path}{'' if self.is_active else ', ended'}>"


@_Destroy
def _target_ended(number: int) -> None:
    found = _observations.get(number)
    binding = found() if found is not None else None
    if binding is not None:
        binding.close()


_watch_ops = _ObserverOps(_Callback(), _target_ended, _Destroy(), _Evaluate(), _Callback(), _Same())


def _check_target(target: Anything, key: str) -> None:
    address_of(target)
    _utf8(key)
    if isinstance(target, CObject):
        target.check_key(key)
    elif key not in target._kvo_properties:
        raise _error(_UNDEFINED, f"'{type(target).__name__}' has no property '{key}'")
    elif isinstance(target._kvo_properties[key], computed):
        raise _error(_READ_ONLY, f"the computed property '{key}' cannot be set")


def _is_same(one: Anything, other: Anything) -> bool:
    try:
        return one is other or (type(one) is type(other) and bool(one == other))
    except Exception:
        return False


def _assigning(target: Anything, key: str) -> Callable[[Anything], None]:
    """A function that sets a property, unless it has the value already. An object that Python owns is held weakly."""
    hold: Callable[[], Anything] = weakref.ref(target) if _keeps(target) else lambda: target

    def assign(value: Anything) -> None:
        found = hold()
        if found is None or not found._kvo_address:  # it has died
            return
        if isinstance(found, Object):
            value = found._kvo_properties[key].convert(value)
            if not _is_same(found.__dict__[key], value):
                setattr(found, key, value)
        elif not _is_same(found[key], value):
            found[key] = value

    return assign


def _reading(hold: Callable[[], Anything], key_path: str) -> Callable[[], Anything]:
    def read() -> Anything:
        value = _read_path(hold(), key_path)
        return value.copy() if isinstance(value, _Copied) else value

    return read


def _bind(target: Anything, key: str, source: Anything, key_path: Optional[str], file: bytes, line: int) -> Binding:
    _check_target(target, key)
    if key_path is None and not callable(source):
        raise TypeError("a function, or an object and a key path were expected")
    root, name = (target, key) if key_path is None else (source, key_path)
    text, address = _utf8(name), _living(root)
    binding = Binding(root, name, _assigning(target, key))
    if key_path is None:
        binding._evaluate = source
    else:
        _read_path(source, key_path)  # a path that cannot be read is refused
        binding._evaluate, binding._is_path = _reading(binding._object, key_path), True
        if isinstance(source, CObject) or "@" in key_path:
            _read_by_c.add(binding._number)
    described = _RawObserver(key_path=text, options=NEW | INITIAL | _ENDS_WITH_OBJECT, user_data=binding._number, file=file, line=line)
    described.class_name, described.address, described.ops = b"Python", binding._number, C.pointer(_bound_ops)
    described.is_binding, described.target = True, _living(target)
    described.target_key = _key_hash(_utf8(key), len(_utf8(key)))
    with _kept_by(root, binding):
        _guarded(_observe_tracked, address, C.byref(described), False, C.byref(binding._id))
        if target is not root:
            _check(_observe_death(address_of(target), C.byref(_watch_ops), binding._number, C.byref(binding._watch)), key)
            if not _is_registered(binding._id.value):  # it has ended meanwhile
                binding._unwatch()
    return binding


def bind(target: Anything, key: str, source: Anything, key_path: Optional[str] = None) -> Binding:
    """Binds a property of `target` to a key path of `source`: bind(label, "text", document, "author.name").

    The target takes the value at once and after each change; all bindings settle before a handler is called. Instead of a source and a key
    path, a function without parameters can be passed: bind(invoice, "total", lambda: invoice.price * invoice.count). Then the property has
    its value, which changes with all properties that it reads. If the function raises, that is reported by sys.unraisablehook, and the
    target keeps its value; a value that the target cannot have is an error of the assignment that makes it, and of bind."""
    return _bind(target, key, source, key_path, *_place(1))


def bind_two_way(one: Anything, key: str, other: Anything, other_key: str) -> Binding:
    """Keeps two properties equal: first that of `one` takes the value of the other one, then each follows the other."""
    _check_target(other, other_key)
    file, line = _place(1)
    first = _bind(one, key, other, other_key, file, line)
    try:
        second = _bind(other, other_key, one, key, file, line)
    except BaseException:
        first.close()
        raise
    second._back = first
    return second
