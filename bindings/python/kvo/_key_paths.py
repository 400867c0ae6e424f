"""Reads and sets key paths."""

from __future__ import annotations

import weakref
from typing import Any as Anything

from ._c_collections import CList, CSet
from ._c_objects import CObject
from ._decoding import _read, _Reading
from ._encoding import _utf8
from ._errors import _check, _error, _UNDEFINED
from ._library import _get_value
from ._lists import _ListOf
from ._objects import Object
from ._observable import address_of, _Observable


def _step(found: Anything, key: str) -> Anything:
    """The value of a key, as an evaluation reads it."""
    if found is None:
        return None
    if isinstance(found, Object):
        if key not in found._kvo_properties:
            raise _error(_UNDEFINED, f"'{type(found).__name__}' has no property '{key}'")
        return getattr(found, key)
    if isinstance(found, CObject):
        return found[key] if found._kvo_address else None  # if it has died
    what = "list" if isinstance(found, (_ListOf, CList, CSet)) else type(found).__name__
    raise _error(-15, f"'{key}' is read from a {what}, which is no observable object")


def _walk(root: "weakref.ref[Object]", keys: list[str]) -> Anything:
    found: Anything = root()
    for key in keys:
        found = _step(found, key)
    return found


def _read_path(found: Anything, key_path: str) -> Anything:
    address_of(found)
    text, at = _utf8(key_path), found
    keys = key_path.split(".")
    for position, key in enumerate(keys):
        if key.startswith("@") or isinstance(at, (_ListOf, CList, CSet)):
            break
        at = _step(at, key)
        if at is None:
            return None
    else:
        return list(at) if isinstance(at, _ListOf) else at
    with _Reading() as reading:
        _check(_get_value(address_of(found), text, _read, reading.key))
    return reading.value


def get(found: Anything, key_path: str) -> Anything:
    """The value of a key path of an object, such as "author.name" or "items.@sum.price". A path through a list gives the list of its
    elements' values; collection operators are those of libkvo. None where a value on the path is None."""
    return _read_path(found, key_path)


def set(found: Anything, key_path: str, value: Anything) -> None:
    """Sets the last key of a key path of an object. If a value before it is None, nothing happens; if it is a list, the key is set for each
    of its elements."""
    address_of(found)
    _utf8(key_path)
    before, _, key = key_path.rpartition(".")
    owner = _read_path(found, before) if before else found
    if owner is None:
        return
    owners = list(owner) if isinstance(owner, (list, CList, CSet)) else [owner]
    for one in owners:
        if not isinstance(one, _Observable) and one is not None:
            raise _error(-15, f"'{key}' is set in a {type(one).__name__}, which is no observable object")
    for one in owners:
        if isinstance(one, Object):
            if key not in one._kvo_properties:
                raise _error(_UNDEFINED, f"'{type(one).__name__}' has no property '{key}'")
            setattr(one, key, value)
        elif one is not None:
            one[key] = value
