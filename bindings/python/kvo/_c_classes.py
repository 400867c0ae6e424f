"""CClass, a class of C or another language."""

from __future__ import annotations

import ctypes as C
from typing import Optional

from ._c_objects import _class_named, CObject, _encodings, wrap
from ._encoding import _utf8
from ._errors import _check
from ._library import _class_find, _class_name, _class_superclass, _object_create
from ._types import _address


class CClass:
    """A class of the runtime, of C or another language. It is looked up by its name for each use, because a plug-in may end it."""

    def __init__(self, name: str) -> None:
        _utf8(name)
        self.name = name

    @property
    def _pointer(self) -> int:
        return _class_named(self.name)

    @property
    def superclass(self) -> Optional["CClass"]:
        found = _class_superclass(self._pointer)
        return CClass(_class_name(found).decode()) if found else None

    @property
    def properties(self) -> dict[str, str]:
        """The keys, with inherited ones, and the type encodings."""
        return _encodings(self._pointer)

    def create(self) -> "CObject":
        """Makes an object, which is destroyed with the last reference of Python to it."""
        made = _address()
        _check(_object_create(self._pointer, C.byref(made)), self.name)
        found = wrap(made.value)
        found._own()
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CClass) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"<CClass {self.name}>"


def find_class(name: str) -> Optional[CClass]:
    """The class of this name, or None."""
    return CClass(name) if _class_find(_utf8(name)) else None
