"""What can be observed, the objects of Python and of C, and the addresses by which the runtime knows it."""

from __future__ import annotations

import weakref
from typing import Any as Anything, Optional, TYPE_CHECKING

from ._errors import _error

if TYPE_CHECKING:
    from ._objects import Object
    from ._observation import Observation


class _Observable:
    """The base of Object and CObject: what has a kvo_object."""

    __slots__ = ()

    if TYPE_CHECKING:
        _kvo_address: int
        _kvo_observations: set[Observation]


_instances: dict[int, "weakref.ref[Object]"] = {}


def _instance(address: int) -> Optional["Object"]:
    found = _instances.get(address)
    return found() if found is not None else None


def address_of(found: Anything) -> int:
    """The address of the kvo_object of an object, for functions of C. It is valid as long as the object lives."""
    if not isinstance(found, _Observable):
        raise TypeError(f"an observable object was expected, not {type(found).__name__}")
    if not found._kvo_address:
        raise _error(-14, "the object of C has died")
    return found._kvo_address
