"""Key-value observing for Python, by libkvo: observable properties, observers of key paths and expressions, bindings, and the objects of C
programs.

README.md of bindings/python describes its use. A property's value is kept in the object's __dict__; the runtime gets a number for it, and
C reads it through a view of its own type.

The modules, each of which imports those before it; _decoding says which import is the exception, and annotations may name later ones:

- the library: _types, _library, _errors, _reports, _memory, _guards
- values: _observable, _encoding, _decoding, _handles
- objects of Python: _property, _property_types, _copies, _lists, _operations, _objects
- objects of C: _observation, _c_collections, _c_objects, _c_classes
- observing: _key_paths, _delivery, _observing, _binding, _ending
"""

import atexit

from ._binding import bind, bind_two_way, Binding
from ._c_classes import CClass, find_class
from ._c_collections import CList, CSet
from ._c_objects import CObject, wrap
from ._ending import _end_all
from ._errors import (
    Error, _InvalidArgument, NotRegistered, _OutOfMemory, _OutOfRange, ReadOnly, TypeMismatch, UndefinedKey,
)  # fmt: skip
from ._handles import _Elements
from ._key_paths import get, set
from ._library import version
from ._lists import List
from ._objects import changing, Object
from ._observable import address_of
from ._observation import Change, Observation
from ._observing import observe
from ._property import computed, Property
from ._property_types import Any, Bool, Double, Int, Reference, String
from ._types import INITIAL, INSERTION, NEW, NONE, OLD, PRIOR, REMOVAL, REPLACEMENT, SETTING

__all__ = [
    "Any", "Binding", "Bool", "CClass", "CList", "CObject", "CSet", "Change", "Double", "Error", "INITIAL", "INSERTION", "Int", "List",
    "NEW", "NONE", "NotRegistered", "OLD", "Object", "Observation", "PRIOR", "Property", "REMOVAL", "REPLACEMENT", "ReadOnly", "Reference",
    "SETTING", "String", "TypeMismatch", "UndefinedKey", "address_of", "bind", "bind_two_way", "changing", "computed", "find_class", "get",
    "observe", "set", "version", "wrap",
]  # fmt: skip

# Tracebacks and pickles name these by the package: in which of its modules they are may change.
for _one in [globals()[name] for name in __all__] + [_Elements, _InvalidArgument, _OutOfMemory, _OutOfRange]:
    if not isinstance(_one, int):
        _one.__module__ = __name__
del _one

atexit.register(_end_all)
