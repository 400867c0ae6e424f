"""observe, which registers a handler of a key, a key path or an expression."""

from __future__ import annotations

import contextlib
import ctypes as C
import operator
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any as Anything, Optional, TYPE_CHECKING

from . import _observation
from ._c_objects import CObject
from ._delivery import _both_ops, _direct_ops, _ended, _new_ops, _told_by_c, _tracked_ops
from ._encoding import _utf8
from ._errors import _check, _error, _UNDEFINED
from ._guards import _guarded, _read_by_c
from ._key_paths import _walk
from ._library import _add_observer, _observe_key, _observe_tracked
from ._lists import List
from ._objects import Object
from ._observable import address_of
from ._observation import _keeps, _lasting, Observation
from ._reports import _interrupted, _raise_interrupt
from ._types import _RawObserver, _ENDS_WITH_OBJECT, _KNOWN_OPTIONS, NEW, _Observer, OLD

if TYPE_CHECKING:
    import asyncio

    from ._observation import Change


def _living(found: Anything) -> int:
    """The address of an object, if observations of it may begin."""
    address = address_of(found)
    if not (C.c_size_t.from_address(address) if isinstance(found, CObject) else found._kvo_word).value:
        raise _error(-14, "the object is being destroyed")
    if _observation.is_over:
        raise _error(-14, "the interpreter ends")
    return address


def _place(depth: int) -> tuple[bytes, int]:
    """The file and line where the caller of so many functions of the package is."""
    caller = sys._getframe(depth + 1)
    return caller.f_code.co_filename.encode("utf-8", "surrogateescape"), caller.f_lineno


@contextlib.contextmanager
def _kept_by(found: Anything, observation: Observation) -> Iterator[None]:
    """with _kept_by(object, observation): registers it. The object keeps it; if that fails, it is closed."""
    if _keeps(found):
        found._kvo_observations.add(observation)
    else:
        _lasting[observation._number] = observation
    try:
        yield
    except BaseException:
        observation.close()
        raise


def _delivering(handler: Callable[[Change], Anything], loop: asyncio.AbstractEventLoop) -> Callable[[Change], None]:
    """A handler that calls another one in a loop, in the order of the changes."""

    def deliver(change: Change) -> None:
        if change.observation.is_active:
            handler(change)

    def told(change: Change) -> None:
        if loop.is_closed():
            change.observation.close()
        else:
            loop.call_soon_threadsafe(deliver, change)

    return told


def observe(
    found: Anything,
    key_path: Anything,
    handler: Callable[[Change], Anything],
    options: int = NEW | OLD,
    *,
    owner: Anything = None,
    loop: Optional[asyncio.AbstractEventLoop] = None,
) -> Observation:
    """Calls handler(change) when the value of a key or key path of an object changes, on the thread that changes it, or later in the `loop`
    of asyncio. What waits there when the observation ends is not delivered.

    Instead of a key path, a function without parameters can be passed: then its value is observed, which changes with all properties that
    it reads. With an `owner` the observation ends with it: it is held weakly, also if the handler is one of its methods. What the handler
    raises is reported by sys.unraisablehook."""
    options = operator.index(options)
    if options & ~_KNOWN_OPTIONS:
        raise ValueError(f"unknown options: {options}")
    if not callable(handler):
        raise TypeError("the handler cannot be called")
    address = _living(found)
    name = "expression" if callable(key_path) else key_path
    path = _utf8(name)
    if owner is not None:
        weakref.ref(owner)  # which has to be possible
    if owner is not None and getattr(handler, "__self__", None) is owner:
        method = weakref.WeakMethod(handler)  # type: ignore[arg-type]
        handler = lambda change: (now := method()) and now(change)  # noqa: E731
    if loop is not None:
        handler = _delivering(handler, loop)
    observation = Observation(found, name, handler, options)
    file, line = _place(1)
    with _kept_by(found, observation):
        _register(observation, found, address, key_path, path, options, file, line)
    if owner is not None:
        seen = weakref.ref(observation)

        def end(_: Anything) -> None:
            now = seen()
            if now is not None:
                now.close()

        observation._owner = weakref.ref(owner, end)
    if _interrupted:
        _raise_interrupt()
    return observation


def _register(
    observation: Observation, found: Anything, address: int, key_path: Anything, path: bytes, options: int, file: bytes, line: int
) -> None:
    number = observation._number
    all_options = options | _ENDS_WITH_OBJECT
    if not callable(key_path) and (isinstance(found, CObject) or "@" in key_path):
        observer = _Observer(C.sizeof(_Observer), path, all_options, _told_by_c, number, _ended, None, file, line)
        if isinstance(found, CObject):
            found.check_key(key_path.split(".")[0])
        if "." in key_path:
            _read_by_c.add(number)
        _guarded(_add_observer, address, C.byref(observer), C.byref(observation._id))
        return
    described = _RawObserver(key_path=path, options=all_options, user_data=number, file=file, line=line, class_name=b"Python")
    described.address = number
    keys = [] if callable(key_path) else key_path.split(".")
    of = found._kvo_properties.get(keys[0]) if keys and isinstance(found, Object) else None
    if keys and of is None:
        raise _error(_UNDEFINED, f"'{type(found).__name__}' has no property '{keys[0]}'")
    if of is not None and len(keys) == 1 and not of.flags:
        usual = {NEW | OLD: _both_ops, NEW: _new_ops} if not isinstance(of, List) else {}
        described.ops = C.pointer(usual.get(options, _direct_ops))
        _check(_observe_key(address, of.key, C.byref(described), C.byref(observation._id)), key_path)
        return
    if callable(key_path):
        observation._evaluate = key_path
    else:
        root = weakref.ref(found)
        observation._evaluate, observation._is_path = lambda: _walk(root, keys), True
        observation._evaluate()  # a path that cannot be read is refused
    described.ops = C.pointer(_tracked_ops)
    _guarded(_observe_tracked, address, C.byref(described), True, C.byref(observation._id))
