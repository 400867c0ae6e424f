"""Key-value observing for Python, by libkvo: observable properties, observers of key paths and expressions, and the objects of C programs.

README.md, beside this file, describes its use. A property's value is kept in the object's __dict__; to the runtime it is the address of a
Python object, which C reads through a view of its own type. Functions of the runtime that may call the program are called without the
interpreter's lock.
"""

from __future__ import annotations

import atexit
import builtins
import contextlib
import ctypes as C
import ctypes.util
import itertools
import operator
import os
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterable, Iterator, MutableSequence, MutableSet
from typing import Any as Anything, Generic, Optional, TypeVar, overload

__all__ = [
    "Any", "Bool", "CClass", "CList", "CObject", "CSet", "Change", "Double", "Error", "INITIAL", "INSERTION", "Int", "List", "NEW", "NONE",
    "NotRegistered", "OLD", "Object", "Observation", "PRIOR", "Property", "REMOVAL", "REPLACEMENT", "ReadOnly", "Reference", "SETTING",
    "String", "TypeMismatch", "UndefinedKey", "address_of", "changing", "computed", "find_class", "get", "observe", "set", "version",
    "wrap",
]

T = TypeVar("T")

NONE, NEW, OLD, INITIAL, PRIOR = 0, 1, 2, 4, 8
SETTING, INSERTION, REMOVAL, REPLACEMENT = 1, 2, 3, 4
_ENDS_WITH_OBJECT = 1 << 8
_KNOWN_OPTIONS = NEW | OLD | INITIAL | PRIOR
_COMPUTED = 1 << 1
_WANTS_OLD, _WANTS_NEW, _WANTS_WILL = 2, 4, 8

# ------------------------------------------------------------------------------------------------------------------- The library


def _find_library() -> str:
    return os.environ.get("KVO_LIBRARY") or ctypes.util.find_library("kvo") or "libkvo.so.1"


try:
    _library = C.CDLL(_find_library())
except OSError as error:
    raise ImportError(f"libkvo is not found ({error}): install it, or name the file in KVO_LIBRARY") from None
_held = C.PyDLL(_library._name, handle=_library._handle)

_address, _size = C.c_void_p, C.c_size_t


def _function(name: str, result: Anything, *arguments: Anything, library: C.CDLL = _library) -> Anything:
    function = library[name]
    function.restype, function.argtypes = result, arguments
    return function


def _untyped(name: str, result: Anything, library: C.CDLL) -> Anything:
    function = library[name]
    function.restype = result
    return function


def _short(name: str, result: Anything, *arguments: Anything) -> Anything:
    """A function that neither waits nor calls the program: it is called with the interpreter's lock held, which is faster."""
    return _function(name, result, *arguments, library=_held)


class _Value(C.Structure):
    _fields_ = [("type", C.c_char_p), ("size", _size), ("bytes", _address)]


class _Collection(C.Structure):
    _fields_ = [("struct_size", _size), ("count", _size), ("element", _address)]


class _RawChange(C.Structure):
    _fields_ = [
        ("object", _address), ("instance", _address), ("changed", _address), ("property", _address), ("old", _address),
        ("new", _address), ("indexes", C.POINTER(_size)), ("count", _size), ("kind", C.c_int), ("is_prior", C.c_bool),
    ]  # fmt: skip


class _CChange(C.Structure):
    _fields_ = [
        ("object", _address), ("key_path", C.c_char_p), ("kind", C.c_int), ("is_prior", C.c_bool), ("old", _address),
        ("new", _address), ("indexes", C.POINTER(_size)), ("count", _size),
    ]  # fmt: skip


_Reader = C.CFUNCTYPE(None, _address, _address)
_Callback = C.CFUNCTYPE(None, _address, _address)
_Destroy = C.CFUNCTYPE(None, _address)
_Evaluate = C.CFUNCTYPE(_address, _address)
_Same = C.CFUNCTYPE(C.c_bool, _address, _address, _address)
_Copy = C.CFUNCTYPE(_address, _address, _address, _address)
_View = C.CFUNCTYPE(None, _address, _address, _Reader, _address)
_Assign = C.CFUNCTYPE(C.c_int, _address, _address, _address)
_Element = C.CFUNCTYPE(C.c_int, _address, _size, _Reader, _address)
_Handler = C.CFUNCTYPE(C.c_int, _address, _address)


class _ValueOps(C.Structure):
    _fields_ = [("copy", _Copy), ("release", _Callback), ("view", _View), ("assign", _Assign), ("same", _Same)]


class _ObserverOps(C.Structure):
    _fields_ = [
        ("callback", _Callback), ("destroy", _Destroy), ("abandon", _Destroy), ("evaluate", _Evaluate), ("release", _Callback),
        ("same", _Same),
    ]  # fmt: skip


class _PropertySpec(C.Structure):
    _fields_ = [
        ("name", C.c_char_p), ("type", C.c_char_p), ("ops", C.POINTER(_ValueOps)), ("user", _address), ("affected_by", _address),
        ("flags", C.c_uint32),
    ]  # fmt: skip


class _BindingObserver(C.Structure):
    _fields_ = [
        ("key_path", C.c_char_p), ("options", C.c_int), ("ops", C.POINTER(_ObserverOps)), ("user_data", _address), ("context", _address),
        ("class_name", C.c_char_p), ("address", _address), ("file", C.c_char_p), ("line", C.c_uint32), ("deliver", _address),
        ("closure", _address), ("note", C.c_char_p), ("is_receiver", C.c_bool),
    ]  # fmt: skip


class _Observer(C.Structure):
    _fields_ = [
        ("struct_size", _size), ("key_path", C.c_char_p), ("options", C.c_int), ("callback", _Callback), ("user_data", _address),
        ("destroy", _Destroy), ("context", _address), ("file", C.c_char_p), ("line", C.c_uint32),
    ]  # fmt: skip


class _Selection(C.Structure):
    _fields_ = [("indexes", C.POINTER(_size)), ("count", _size)]


class _Fault(C.Structure):
    _fields_ = [("code", C.c_int), ("severity", C.c_int), ("summary", C.c_char_p)]


_Frame = _address * 20
_argument = _address.from_param
"""Makes an argument for a function without argtypes: a call with arguments that were made before takes half the time."""

_version = _short("kvo_version", C.c_uint32)
_status_text = _short("kvo_status_string", C.c_char_p, C.c_int)
_last_error = _short("kvo_last_error", C.c_char_p)
_key_hash = _short("kvo_key_hash", C.c_uint64, C.c_char_p, _size)
_class_find = _short("kvo_class_find", _address, C.c_char_p)
_class_name = _short("kvo_class_name", C.c_char_p, _address)
_class_superclass = _short("kvo_class_superclass", _address, _address)
_class_property_count = _short("kvo_class_property_count", _size, _address)
_class_property_at = _short("kvo_class_property_at", _address, _address, _size)
_class_property = _short("kvo_class_property", _address, _address, C.c_char_p)
_class_register = _short("kvo_binding_class_register", C.c_int, C.c_char_p, _address, _size, _address, _size, _address)
_property_name = _short("kvo_property_name", C.c_char_p, _address)
_property_type = _short("kvo_property_type", C.c_char_p, _address)
_object_class = _short("kvo_object_class", _address, _address)
_object_init = _short("kvo_object_adopt", None, _address, _address)
_object_create = _short("kvo_object_create", C.c_int, _address, _address)
_object_finish = _function("kvo_object_finish", None, _address)
_object_destroy = _function("kvo_object_destroy", None, _address)
_object_is_observed = _short("kvo_object_is_observed", C.c_bool, _address)
_observe_key = _function("kvo_binding_observe_key", C.c_int, _address, C.c_uint64, _address, _address)
_observe_tracked = _function("kvo_binding_observe_tracked", C.c_int, _address, _address, C.c_bool, _address)
_observe_death = _function("kvo_binding_observe_death", C.c_int, _address, _address, _address, _address)
_add_observer = _function("kvo_add_observer", C.c_int, _address, _address, _address)
_cancel = _function("kvo_cancel_observer", C.c_int, C.c_uint64)
_cancel_and_wait = _function("kvo_cancel_observer_and_wait", C.c_int, C.c_uint64)
_pause = _function("kvo_observation_pause", C.c_int, C.c_uint64)
_resume = _function("kvo_observation_resume", C.c_int, C.c_uint64, C.c_bool)
_is_paused = _short("kvo_observation_is_paused", C.c_bool, C.c_uint64)
_is_registered = _short("kvo_observation_is_registered", C.c_bool, C.c_uint64)
_begin = _untyped("kvo_frame_begin", C.c_uint32, _held)
_begin_change = _short("kvo_frame_begin_change", C.c_uint32, _address, _address, C.c_uint64, C.c_int, _address, _size)
_will = _untyped("kvo_frame_will", None, _library)
_finish = _untyped("kvo_frame_finish_with", None, _library)
_end = _function("kvo_frame_end", None, _address)
_stored = _function("kvo_binding_stored", None, _address, C.c_uint64)
_will_change = _function("kvo_will_change", C.c_int, _address, C.c_char_p)
_did_change = _function("kvo_did_change", C.c_int, _address, C.c_char_p)
_track_read = _function("kvo_track_read", None, _address, C.c_uint64)
_get_value = _function("kvo_get_value", C.c_int, _address, C.c_char_p, _Reader, _address)
_set_value = _function("kvo_set_value", C.c_int, _address, C.c_char_p, _address)
_value_collection = _short("kvo_value_collection", _address, _address)
_value_count = _short("kvo_value_count", _size, _address)
_value_element = _function("kvo_value_element", C.c_int, _address, _size, _Reader, _address)
_list_count = _function("kvo_list_count", C.c_int, _address, C.c_char_p, _address)
_list_get = _function("kvo_list_get", C.c_int, _address, C.c_char_p, _size, _Reader, _address)
_list_insert = _function("kvo_list_insert", C.c_int, _address, C.c_char_p, _size, _address)
_list_remove = _function("kvo_list_remove", C.c_int, _address, C.c_char_p, _size)
_list_replace = _function("kvo_list_replace", C.c_int, _address, C.c_char_p, _size, _address)
_members_count = _function("kvo_members_count", C.c_int, _address, C.c_char_p, _address)
_members_contain = _function("kvo_members_contain", C.c_int, _address, C.c_char_p, _address, _address)
_members_for_each = _function("kvo_members_for_each", C.c_int, _address, C.c_char_p, _Reader, _address)
_members_add = _function("kvo_members_add", C.c_int, _address, C.c_char_p, _address)
_members_remove = _function("kvo_members_remove", C.c_int, _address, C.c_char_p, _address)
_set_fault_handler = _short("kvo_set_thread_fault_handler", _address, _address, _address)
_get_fault_handler = _short("kvo_get_thread_fault_handler", _address, _address)
_tracking = C.c_uint32.in_dll(_library, "kvo_tracking_count")


def version() -> int:
    """The version of libkvo, as major * 10000 + minor * 100 + patch."""
    return _version()


# ------------------------------------------------------------------------------------------------------------------------ Errors


class Error(Exception):
    """A call of the runtime has failed; `status` is its kvo_status."""

    status = 0


class UndefinedKey(Error, AttributeError):
    """An object has no property of this key."""


class ReadOnly(Error, AttributeError):
    """A property cannot be set."""


class TypeMismatch(Error, TypeError):
    """A value is not of the property's type."""


class NotRegistered(Error, LookupError):
    """An observation has ended."""


class _InvalidArgument(Error, ValueError):
    pass


class _OutOfMemory(Error, MemoryError):
    pass


class _OutOfRange(Error, IndexError):
    pass


_OK, _INVALID, _NO_MEMORY, _UNDEFINED, _NOT_REGISTERED, _READ_ONLY, _MISMATCH, _RANGE = 0, -1, -2, -8, -10, -11, -13, -20
_errors: dict[int, type[Error]] = {
    _INVALID: _InvalidArgument, _NO_MEMORY: _OutOfMemory, _UNDEFINED: UndefinedKey, -9: _InvalidArgument,
    _NOT_REGISTERED: NotRegistered, _READ_ONLY: ReadOnly, -12: ReadOnly, _MISMATCH: TypeMismatch, _RANGE: _OutOfRange,
}  # fmt: skip


def _error(status: int, text: str) -> Error:
    made = _errors.get(status, Error)(text)
    made.status = status
    return made


def _check(status: int, what: str = "") -> None:
    if status != _OK:
        text = (_last_error() or _status_text(status)).decode("utf-8", "replace")
        raise _error(status, f"{what}: {text}" if what else text)


# What the code of handlers has raised that no report may take away: KeyboardInterrupt, SystemExit, and RecursionError, when there is no room
# for a report. The next call of the binding on the thread raises it.
class _Thread(threading.local):
    interrupt: Optional[BaseException] = None
    fault: str = ""
    fault_code: int = 0


_thread = _Thread()
_interrupted = False


class _Report:
    """Raises an error where ctypes passes it to sys.unraisablehook; Python has no other way to do that."""

    def __init__(self, error: BaseException, where: Anything) -> None:
        self.error, self.where = error, where

    def __call__(self) -> None:
        raise self.error

    def __repr__(self) -> str:
        return repr(self.where)


def _failed(error: BaseException, where: Anything) -> None:
    """Reports what a handler or a getter has raised while C had called it: there is no caller that could catch it."""
    global _interrupted
    if isinstance(error, Exception) and not isinstance(error, RecursionError):
        C.CFUNCTYPE(None)(_Report(error, where))()
    else:
        _thread.interrupt, _interrupted = error, True


def _raise_interrupt() -> None:
    global _interrupted
    error, _thread.interrupt = _thread.interrupt, None
    if error is not None:
        _interrupted = False
        raise error


def _failed_path(error: BaseException, where: Anything) -> None:
    """Has the assignment raise what a key path of an observer has raised meanwhile; without one, as on a thread of C, it is reported."""
    try:
        caller: Anything = sys._getframe(2)
    except ValueError:
        caller = None
    if caller is None or caller.f_globals is not globals():
        _failed(error, where)
    elif _thread.interrupt is None:
        global _interrupted
        _thread.interrupt, _interrupted = error, True


@_Handler
def _on_fault(fault: int, arg: int) -> int:
    try:
        report = _Fault.from_address(fault)
        if report.severity != 0:  # not fatal: it is logged
            return 0
        if not _thread.fault:
            _thread.fault, _thread.fault_code = report.summary.decode("utf-8", "replace"), report.code
    except BaseException as error:
        _failed(error, "a fault")
    return 1


class _Guard:
    """with _Guard(): misuse that would end the process, in the calls of C inside, raises an error at the end. Guards may be nested."""

    def __enter__(self) -> "_Guard":
        self.outer_arg = _address()
        self.outer = _get_fault_handler(C.byref(self.outer_arg))
        self.outer_fault = _thread.fault, _thread.fault_code
        _thread.fault, _thread.fault_code = "", 0
        _set_fault_handler(_on_fault, None)
        return self

    def __exit__(self, kind: Anything, *_: Anything) -> None:
        _set_fault_handler(self.outer, self.outer_arg)
        fault, code = _thread.fault, _thread.fault_code
        _thread.fault, _thread.fault_code = self.outer_fault
        if fault and kind is None:
            raise _error(_UNDEFINED if code == 9 else -15, fault)


def _guarded(function: Callable[..., int], *arguments: Anything, what: str = "") -> None:
    """Calls a function whose misuse would end the process, and raises an error instead."""
    status = _OK
    try:
        with _Guard():
            status = function(*arguments)
    except Error as error:
        raise (_error(status, str(error)) if status != _OK else error) from None
    _check(status, what)
    if _interrupted:
        _raise_interrupt()


# ------------------------------------------------------------------------------------------------------------------------ Values

_scalars: dict[str, Anything] = {
    "c": C.c_byte, "C": C.c_ubyte, "s": C.c_short, "S": C.c_ushort, "i": C.c_int, "I": C.c_uint, "l": C.c_long, "L": C.c_ulong,
    "q": C.c_longlong, "Q": C.c_ulonglong, "f": C.c_float, "d": C.c_double, "D": C.c_longdouble, "B": C.c_bool, "*": C.c_char_p,
    "@": C.c_void_p, "^": C.c_void_p, ":": C.c_void_p, "#": C.c_void_p,
}  # fmt: skip


def _parse(encoding: str, at: int) -> tuple[Anything, int]:
    """The ctypes type of the encoding at a position, and the position after it."""
    while encoding[at] in "rnNoORVA":
        at += 1
    code = encoding[at]
    if code == "{":
        at = encoding.index("=", at) + 1
        members: list[tuple[str, Anything]] = []
        while encoding[at] != "}":
            member, at = _parse(encoding, at)
            members.append((f"m{len(members)}", member))
        return type("Structure", (C.Structure,), {"_fields_": members}), at + 1
    if code == "[":
        end = at + 1
        while encoding[end].isdigit():
            end += 1
        member, after = _parse(encoding, end)
        return member * int(encoding[at + 1 : end]), after + 1
    if code == "^":
        return C.c_void_p, _parse(encoding, at + 1)[1] if encoding[at + 1] not in "v?" else at + 2
    return _scalars[code], at + 1


_parsed: dict[str, Anything] = {}


def _type_of(encoding: str) -> Anything:
    made = _parsed.get(encoding)
    if made is None:
        try:
            made = _parsed[encoding] = _parse(encoding, 0)[0]
        except (KeyError, IndexError, ValueError):
            raise _error(_MISMATCH, f"Python cannot use values of the type \"{encoding}\"") from None
    return made


def _plain(value: Anything) -> Anything:
    """A structure as a tuple, an array as a list."""
    if isinstance(value, C.Structure):
        return tuple(_plain(getattr(value, name)) for name, *_ in value._fields_)
    return [_plain(one) for one in value] if isinstance(value, C.Array) else value


def _fill(made: Anything, value: Anything) -> Anything:
    if isinstance(made, C.Structure):
        if len(value) != len(made._fields_):
            raise TypeError(f"a structure of {len(made._fields_)} members was expected")
        for (name, kind, *_), one in zip(made._fields_, value):
            setattr(made, name, _fill(kind(), one) if issubclass(kind, (C.Structure, C.Array)) else one)
    elif isinstance(made, C.Array):
        if len(value) != len(made):
            raise TypeError(f"an array of {len(made)} elements was expected")
        for index, one in enumerate(value):
            made[index] = _fill(made._type_(), one) if issubclass(made._type_, (C.Structure, C.Array)) else one
    return made


def _unqualified(encoding: str) -> str:
    return encoding.lstrip("rnNoORVA")


def _decode(value: Optional[int]) -> Anything:
    """The Python value of a kvo_value at an address. Values that only another language can interpret are their addresses."""
    if not value:
        return None
    view = _Value.from_address(value)
    if not view.bytes:
        return None
    encoding = _unqualified((view.type or b"?").decode())
    code = encoding[:1]
    if code in "[<" and _value_collection(value):
        elements: list[Anything] = []
        for position in range(_value_count(value)):
            with _Reading() as reading:
                _check(_value_element(value, position, _read, reading.key))
            elements.append(reading.value)
        return elements
    if code == "?":
        return view.bytes
    found = _plain(_type_of(encoding).from_address(view.bytes)) if code in "{[" else _type_of(encoding).from_address(view.bytes).value
    if code == "*":
        return None if found is None else found.decode("utf-8", "surrogateescape")
    return wrap(found) if code == "@" else found


def _integer(value: Anything, encoding: str, kind: Anything) -> int:
    number = operator.index(value)
    if kind(number).value != number:
        raise OverflowError(f"{number} does not fit in the type \"{encoding}\"")
    return number


class _Encoded:
    """A kvo_value with the storage that it needs."""

    def __init__(self, value: Anything, encoding: str) -> None:
        plain = _unqualified(encoding)
        code = plain[:1]
        if code == "?":
            plain, code = _encoding_of(value), _encoding_of(value)
        kind = _type_of(plain) if code != "?" else C.py_object
        self.storage: Anything = None
        if code == "?":
            self.storage = C.py_object(value)
        elif value is None:
            if code not in "*@^#:":
                raise TypeError(f"None is no value of the type \"{encoding}\"")
        elif code == "*":
            self.storage = kind(_utf8(value))
        elif code == "@":
            self.storage = kind(address_of(value))
        elif code == "B":
            self.storage = kind(_truth(value))
        elif code in "fdD":
            self.storage = kind(_real(value))
        elif code in "^#:":
            self.storage = kind(operator.index(value))
        elif code in "{[":
            self.storage = _fill(kind(), value)
        else:
            self.storage = kind(_integer(value, plain, kind))
        self.owner = value
        self.view = _Value(plain.encode(), C.sizeof(kind), C.addressof(self.storage) if self.storage is not None else None)


def _encoding_of(value: Anything) -> str:
    """How C sees a value of a property of any type."""
    if value is None or isinstance(value, (Object, CObject)):
        return "@"
    if isinstance(value, bool):
        return "B"
    if isinstance(value, int) and -(1 << 63) <= value < 1 << 63:
        return "q"
    if isinstance(value, float):
        return "d"
    return "*" if isinstance(value, str) and "\0" not in value else "?"


def _utf8(value: Anything) -> bytes:
    if not isinstance(value, str):
        raise TypeError(f"a str was expected, not {type(value).__name__}")
    if "\0" in value:
        raise ValueError("a string of C cannot contain NUL; use a property of the type kvo.Any")
    return value.encode("utf-8", "surrogateescape")


def _real(value: Anything) -> float:
    if value.__class__ is float:
        return value
    if isinstance(value, (str, bytes, bytearray)):
        raise TypeError(f"a number was expected, not {type(value).__name__}")
    return float(value)


def _truth(value: Anything) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"a bool was expected, not {type(value).__name__}")
    return value


class _Reading:
    """Receives a value from a reader."""

    made = itertools.count(1)
    open: dict[int, "_Reading"] = {}

    def __enter__(self) -> "_Reading":
        self.key = next(_Reading.made)
        self.values: list[Anything] = []
        self.error: Optional[BaseException] = None
        _Reading.open[self.key] = self
        return self

    def __exit__(self, *_: Anything) -> None:
        del _Reading.open[self.key]
        if self.error is not None:
            raise self.error

    @property
    def value(self) -> Anything:
        return self.values[0] if self.values else None


@_Reader
def _read(value: int, key: int) -> None:
    try:
        _Reading.open[key].values.append(_decode(value))
    except BaseException as error:
        _Reading.open[key].error = error


# -------------------------------------------------------------------------------------------------------------------- Properties


class _Old(list):
    """A value before a change, in a list of one."""

    __slots__ = ()


class _Now(list):
    """The value of a key at the time when it is read: a __dict__ and the key. Observers of a change get it instead of the value."""

    __slots__ = ()


_values: dict[int, Anything] = {}
"""What the runtime holds, by numbers that it takes for addresses: it never uses what is there. If an exception ends a function that C calls,
before its first line, then ctypes returns any number; one that is unknown here stands for no value."""
_value_numbers = itertools.count(1 << 12, 16)


def _kept(value: Anything) -> int:
    number = next(_value_numbers)
    _values[number] = value
    return number


def _value(number: Optional[int]) -> Anything:
    """The value that C passes; None for NULL."""
    found: Anything = _values.get(number)  # type: ignore[arg-type]
    kind = found.__class__
    found = found[0] if kind is _Old else found[0][found[1]] if kind is _Now else found
    return list(found) if found.__class__ is _Elements else found


_unused: list[tuple[Anything, ...]] = []
_memories: list[Anything] = []
_nows: dict[int, _Now] = {}


def _setting() -> tuple[Anything, ...]:
    """What a change of a property needs, made once and used again: a frame, and what stands for the values, each also as an argument."""
    memory, old, now = _Frame(), _Old([None]), _Now([None, None])
    _memories.append(memory)
    number = _kept(now)
    _nows[number] = now
    return _argument(C.addressof(memory)), old, _argument(_kept(old)), now, _argument(number)


_read_by_c: "builtins.set[int]" = builtins.set()
"""The observations of key paths that C reads. While there is one, a set may make a fault."""
_no_guard = contextlib.nullcontext()

_properties: list["Property[Anything]"] = []
_instances: dict[int, "weakref.ref[Object]"] = {}


def _instance(address: int) -> Optional["Object"]:
    found = _instances.get(address)
    return found() if found is not None else None


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
            with _Guard():
                self._store(instance, value)
        else:
            self._store(instance, value)

    def _store(self, instance: "Object", value: T) -> None:
        """Sets the value of an observed object."""
        values, name = instance.__dict__, self.name
        setting = _unused.pop() if _unused else _setting()
        frame, old, old_argument, now, now_argument = setting
        wants = _begin(frame, instance._kvo_argument, self.key_argument)
        if wants:
            old[0] = values[name]
            if wants & _WANTS_WILL:
                _will(frame, old_argument)
            values[name] = value
            now[0] = values
            now[1] = name
            _finish(frame, old_argument, now_argument)
            old[0] = now[0] = None
        else:
            values[name] = value
            _stored(instance._kvo_address, self.key)
        _unused.append(setting)
        if _interrupted:
            _raise_interrupt()

    def __delete__(self, instance: "Object") -> None:
        raise AttributeError(f"the property '{self.name}' cannot be deleted")


class Any(Property[Anything]):
    """A property of any type. C sees numbers, strings and objects; other values it cannot interpret."""


class Double(Property[float]):
    """A property that is a double in C."""

    encoding = "d"
    convert = staticmethod(_real)  # type: ignore[assignment]

    def __init__(self, default: float = 0.0, **more: Anything) -> None:
        super().__init__(default, **more)


class Int(Property[int]):
    """A property that is a long long in C: 64 bits."""

    encoding = "q"

    def __init__(self, default: int = 0, **more: Anything) -> None:
        super().__init__(default, **more)

    def convert(self, value: Anything) -> int:
        return _integer(value, "q", C.c_longlong)


class Bool(Property[bool]):
    """A property that is a bool in C."""

    encoding = "B"
    convert = staticmethod(_truth)  # type: ignore[assignment]

    def __init__(self, default: bool = False, **more: Anything) -> None:
        super().__init__(default, **more)


class String(Property[Optional[str]]):
    """A property that is a char * in C: a str without NUL, or None."""

    encoding = "*"

    def __init__(self, default: Optional[str] = "", **more: Anything) -> None:
        super().__init__(default, **more)

    def convert(self, value: Anything) -> Optional[str]:
        if value is not None:
            _utf8(value)
        return value


class Reference(Property[Anything]):
    """A property that is an observable object, of Python or C, or None."""

    encoding = "@"

    def convert(self, value: Anything) -> Anything:
        if value is not None and not isinstance(value, (Object, CObject)):
            raise TypeError(f"an observable object was expected, not {type(value).__name__}")
        return value


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


class _Elements(list):
    """What a List keeps in the object's __dict__."""

    __slots__ = ()


class List(Property[Anything], Generic[T]):
    """A to-many property: reading it gives a list whose mutations notify, with kind and indexes. `element` is the property type of its
    elements, such as kvo.Double."""

    def __init__(self, element: type[Property[T]] = Any, default: Iterable[T] = ()) -> None:
        if not (isinstance(element, type) and issubclass(element, Property)):
            raise TypeError("a type of property was expected, such as kvo.Double")
        self.element = element()
        self.encoding = "[" + self.element.encoding + "]"
        super().__init__(list(default))

    def convert(self, value: Anything) -> Anything:
        return _Elements(self.element.convert(one) for one in value)

    def __get__(self, instance: Anything, owner: Anything = None) -> Anything:
        if instance is None:
            return self
        super().__get__(instance, owner)
        return _ListOf(instance, self)

    def __set__(self, instance: "Object", value: Anything) -> None:
        if isinstance(value, _ListOf) and value._owner is instance and value._property is self:
            return  # after += and *=, which have told their change
        super().__set__(instance, value)


class _ListOf(MutableSequence):
    """The list of a property of an object."""

    __slots__ = ("_owner", "_property")

    def __init__(self, owner: "Object", of: List) -> None:
        self._owner, self._property = owner, of

    @property
    def _elements(self) -> list:
        return self._owner.__dict__[self._property.name]

    def __len__(self) -> int:
        return len(self._elements)

    def __getitem__(self, index: Anything) -> Anything:
        return self._elements[index]

    def __iter__(self) -> Iterator:
        return iter(self._elements)

    def __eq__(self, other: object) -> bool:
        return self._elements == (other._elements if isinstance(other, _ListOf) else other)

    def __repr__(self) -> str:
        return repr(self._elements)

    def insert(self, index: int, value: Anything) -> None:
        count = len(self._elements)
        at = max(0, index + count) if index < 0 else min(index, count)
        value = self._property.element.convert(value)
        self._change(INSERTION, [at], [value], lambda elements: elements.insert(at, value))

    def extend(self, values: Iterable[Anything]) -> None:
        made, at = self._property.convert(list(values)), len(self._elements)
        self._change(INSERTION, list(range(at, at + len(made))), list(made), lambda elements: elements.extend(made))

    def __imul__(self, times: int) -> "_ListOf":
        times = operator.index(times)
        if times > 0:
            self.extend(list(self._elements) * (times - 1))
        else:
            self.clear()
        return self

    def clear(self) -> None:
        self._change(REMOVAL, list(range(len(self._elements))), None, lambda elements: elements.clear())

    def __setitem__(self, index: Anything, value: Anything) -> None:
        if isinstance(index, slice):
            made = list(self._elements)
            made[index] = value
            self._property.__set__(self._owner, made)
        else:
            at = range(len(self._elements))[index]
            value = self._property.element.convert(value)
            self._change(REPLACEMENT, [at], [value], lambda elements: operator.setitem(elements, at, value))

    def __delitem__(self, index: Anything) -> None:
        every = range(len(self._elements))[index]
        indexes = sorted(every) if isinstance(index, slice) else [every]
        self._change(REMOVAL, indexes, None, lambda elements: operator.delitem(elements, index))

    def sort(self, *, key: Anything = None, reverse: bool = False) -> None:
        """Sorts: told as one setting."""
        self._property.__set__(self._owner, sorted(self._elements, key=key, reverse=reverse))

    def reverse(self) -> None:
        """Reverses: told as one setting."""
        self._property.__set__(self._owner, self._elements[::-1])

    def _change(self, kind: int, indexes: list[int], elements_after: Optional[list], apply: Callable[[list], Anything]) -> None:
        if indexes:
            with _Guard() if _read_by_c else _no_guard:
                self._change_now(kind, indexes, elements_after, apply)

    def _change_now(self, kind: int, indexes: list[int], elements_after: Optional[list], apply: Callable[[list], Anything]) -> None:
        instance, key, elements = self._owner, self._property.key, self._elements
        if not instance._kvo_word.value & 1:
            apply(elements)
            if instance._kvo_word.value & 1:
                _stored(instance._kvo_address, key)
            return
        memory, at = _Frame(), (_size * len(indexes))(*indexes)
        wants = _begin_change(memory, instance._kvo_address, key, kind, at, len(indexes))
        if wants == 0:
            apply(elements)
            _stored(instance._kvo_address, key)
            return
        old = new = None
        try:
            if kind != INSERTION:
                old = _kept([elements[index] for index in indexes])
            if elements_after is not None:
                new = _kept(elements_after)
            if wants & _WANTS_WILL:
                _will(memory, _argument(old))
            apply(elements)
        except BaseException:  # another thread has changed the list meanwhile
            _end(memory)
            raise
        else:
            _finish(memory, _argument(old), _argument(new))
        finally:
            _values.pop(old, None)  # type: ignore[arg-type]
            _values.pop(new, None)  # type: ignore[arg-type]
        if _interrupted:
            _raise_interrupt()


# ------------------------------------------------------------------------------------------- How the runtime uses Python's values


@_Copy
def _copy(instance: int, user: int, selection: Optional[int]) -> Optional[int]:
    try:
        found, of = _instance(instance), _properties[user - 1]
        if found is None:
            return None
        value = of.function(found) if isinstance(of, computed) else found.__dict__[of.name]
        if isinstance(of, List):
            value = list(value)
            if selection:
                chosen = _Selection.from_address(selection)
                value = [value[index] for index in chosen.indexes[: chosen.count] if index < len(value)]
        return _kept(value)
    except BaseException as error:
        _failed(error, f"property {user}")
        return None


@_Callback
def _release(value: int, user: int) -> None:
    _values.pop(value, None)


@_View
def _view(value: int, user: int, reader: Callable[..., None], arg: int) -> None:
    try:
        found, of = _value(value), _properties[user - 1]
        shown = _shown_list(found, of) if isinstance(of, List) else _Encoded(found, of.encoding)
    except BaseException as error:
        _failed(error, f"property {user}")
        shown = _Encoded(None, "@")
    reader(C.addressof(shown.view), arg)
    if isinstance(shown, _ShownList):
        del _ShownList.open[shown.key]


class _ShownList:
    """A list as C sees it, while a reader uses it."""

    open: dict[int, "_ShownList"] = {}

    def __init__(self, elements: list, of: List) -> None:
        self.elements, self.encoding = elements, of.element.encoding
        self.collection = _Collection(C.sizeof(_Collection), len(elements), C.cast(_element, _address))
        self.key = C.addressof(self.collection)
        self.view = _Value(of.encoding.encode(), C.sizeof(_Collection), self.key)
        self.open[self.key] = self


_shown_list = _ShownList


@_Element
def _element(collection: int, position: int, reader: Callable[..., None], arg: int) -> int:
    try:
        shown = _ShownList.open[collection]
        encoded = _Encoded(shown.elements[position], shown.encoding)
    except BaseException as error:
        _failed(error, "an element of a list")
        return _MISMATCH
    reader(C.addressof(encoded.view), arg)
    return _OK


@_Assign
def _assign(instance: int, user: int, value: int) -> int:
    try:
        found, of = _instance(instance), _properties[user - 1]
        if isinstance(of, computed):
            return _READ_ONLY
        if found is None:
            return _OK
        converted = of.convert(_decode(value))
    except BaseException:
        return _MISMATCH
    try:
        of.__set__(found, converted)
    except BaseException as error:
        _failed(error, of)
    return _OK


@_Same
def _same(one: int, other: int, user: int) -> bool:
    try:
        return bool(_value(one) == _value(other))
    except BaseException:
        return False


_ops = _ValueOps(_copy, _release, _view, _assign, _same)


# ----------------------------------------------------------------------------------------------------------------------- Objects


class _Word(C.c_size_t):
    """The header of an object, in memory of its own. It is finished with the object, also if a subclass has a __del__ of its own."""

    def __del__(self, finish: Anything = _object_finish, address: Anything = C.addressof, known: Anything = _instances) -> None:
        if self.value:
            finish(address(self))
        known.pop(address(self), None)


class Object:
    """An object with observable properties: class Document(kvo.Object): title = kvo.String("Untitled")

    Each subclass is a class of the runtime. The object's observations end when it is deallocated."""

    __slots__ = ("_kvo_word", "_kvo_address", "_kvo_argument", "_kvo_observations", "__dict__", "__weakref__")
    _kvo_word: "_Word"
    _kvo_address: int
    _kvo_argument: Anything
    _kvo_observations: "builtins.set[Observation]"
    _kvo_class = 0
    _kvo_properties: dict[str, Property] = {}

    def __init_subclass__(cls, **more: Anything) -> None:
        super().__init_subclass__(**more)
        base = next(one for one in cls.__mro__[1:] if issubclass(one, Object))
        found = {name: one for part in reversed(cls.__mro__) for name, one in vars(part).items() if isinstance(one, Property)}
        own = [one for name, one in found.items() if base._kvo_properties.get(name) is not one]
        specs = (_PropertySpec * len(own))()
        for spec, one in zip(specs, own):
            spec.name, spec.type, spec.user, spec.flags = one.name.encode(), one.encoding.encode(), one.number, one.flags
            spec.ops = C.pointer(_ops)
        made = _address()
        _check(_class_register(cls.__name__.encode(), base._kvo_class or None, 0, specs, len(own), C.byref(made)), cls.__name__)
        cls._kvo_class = made.value or 0
        cls._kvo_properties = found

    def __new__(cls, *arguments: Anything, **more: Anything) -> Anything:
        if cls is Object:
            raise TypeError("make a subclass of kvo.Object")
        self = super().__new__(cls)
        word = _Word()
        self._kvo_address = C.addressof(word)
        self._kvo_argument = _argument(self._kvo_address)
        self._kvo_observations = builtins.set()
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


def address_of(found: Anything) -> int:
    """The address of the kvo_object of an object, for functions of C. It is valid as long as the object lives."""
    if isinstance(found, CObject):
        return found._live()
    if isinstance(found, Object):
        return found._kvo_address
    raise TypeError(f"an observable object was expected, not {type(found).__name__}")


class changing:
    """with kvo.changing(object, "key"): announces a change that no setter makes."""

    def __init__(self, found: Anything, key: str) -> None:
        self._object, self._key = found, _utf8(key)
        if not _class_property(_object_class(address_of(found)), self._key):
            raise _error(_UNDEFINED, f"'{_name_of_class(found)}' has no key '{key}'")

    def __enter__(self) -> None:
        _guarded(_will_change, address_of(self._object), self._key)

    def __exit__(self, *_: Anything) -> None:
        _guarded(_did_change, address_of(self._object), self._key)


# ------------------------------------------------------------------------------------------------------------------ Observations


class Change(tuple):
    """What a handler gets. `old` and `new` are None unless they were asked for; for an insertion, a removal or a replacement they are lists of
    the elements at `indexes`."""

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


_make = tuple.__new__


class Observation:
    """A registration. It lasts until close(), the end of a with block, or the death of the object; it need not be kept."""

    __slots__ = ("key_path", "_id", "_number", "_object", "_handler", "_wants", "_evaluate", "_owner", "_is_path", "__weakref__")

    def __init__(self, found: Anything, key_path: str, handler: Callable[[Change], Anything], wants: int) -> None:
        self.key_path, self._handler, self._wants = key_path, handler, wants
        self._object: Callable[[], Anything] = weakref.ref(found) if _keeps(found) else lambda: found
        self._id = C.c_uint64()
        self._evaluate: Optional[Callable[[], Anything]] = None
        self._is_path = False
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
        _check(_pause(self._id.value), self.key_path)

    def resume(self, tell_missed: bool = True) -> None:
        """Ends the pause; what was changed meanwhile is told once, if `tell_missed`."""
        _guarded(_resume, self._id.value, bool(tell_missed), what=self.key_path)

    @property
    def is_paused(self) -> bool:
        return _is_paused(self._id.value)

    def _forget(self) -> None:
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


_raws: dict[int, _RawChange] = {}
"""Views of the records at addresses where there often is one: on the stack."""
def _keeps(found: Anything) -> bool:
    """Whether an object, which Python owns, keeps its observations."""
    return isinstance(found, Object) or found._kvo_owned


_numbers = itertools.count(1)
_observations: dict[int, "weakref.ref[Observation]"] = {}
_lasting: dict[int, Observation] = {}
"""Those of the objects that C owns; the others are kept by the object that they observe."""


def _deliver(number: int, kind: int, old: Anything, new: Anything, indexes: Optional[list[int]], is_prior: bool) -> None:
    found = _observations.get(number)
    observation = found() if found is not None else None
    if observation is not None:
        try:
            observation._handler(_make(_DetailedChange, (observation, old, new, kind, indexes, is_prior)))
        except BaseException as error:
            _failed(error, observation._handler)


@_Callback
def _told(change: int, number: int) -> None:
    raw = _raws.get(change) or _RawChange.from_address(change)
    if len(_raws) < 1000:
        _raws[change] = raw
    kind = raw.kind
    indexes = raw.indexes[: raw.count] if kind != SETTING and raw.indexes else None
    _deliver(number, kind, _value(raw.old), _value(raw.new), indexes, raw.is_prior)


@_Callback
def _told_both(change: int, number: int) -> None:
    """The usual case: a set of a property, of which the old and the new value are wanted."""
    global _interrupted
    try:
        try:
            raw = _raws[change]
            values, name = _nows[raw.new]
            observation = _observations[number]()
            made = _make(Change, (observation, _values[raw.old][0], values[name]))
            handler = observation._handler  # type: ignore[union-attr]
        except (AttributeError, KeyError):  # it has ended; the values are not those of a set
            _told(change, number)
            return
        handler(made)
    except RecursionError as error:  # no room to call _failed
        _thread.interrupt, _interrupted = error, True
    except BaseException as error:
        _failed(error, observation._handler)  # type: ignore[union-attr]


@_Callback
def _told_by_c(change: int, number: int) -> None:
    try:
        told = _CChange.from_address(change)
        indexes = told.indexes[: told.count] if told.indexes else None
        old, new = _decode(told.old), _decode(told.new)
    except BaseException as error:
        _failed(error, f"observation {number}")
        return
    _deliver(number, told.kind, old, new, indexes, told.is_prior)


@_Destroy
def _ended(number: int) -> None:
    found = _observations.pop(number, None)  # whose observation may have been deallocated with its object
    _read_by_c.discard(number)
    _lasting.pop(number, None)
    observation = found() if found is not None else None
    if observation is not None:
        observation._forget()


@_Evaluate
def _evaluated(number: int) -> Optional[int]:
    observation: Optional[Observation] = None
    try:
        found = _observations.get(number)
        observation = found() if found is not None else None
        if observation is None or observation._evaluate is None:  # it has ended
            return None
        value = observation._evaluate()
        return _kept(list(value) if isinstance(value, _ListOf) else value)
    except BaseException as error:
        if isinstance(error, Error) and observation is not None and observation._is_path:
            _failed_path(error, f"key path {observation.key_path}")
        else:
            _failed(error, f"evaluation {number}")
        return None


_direct_ops = _ObserverOps(_told, _ended, _ended, _Evaluate(), _Callback(), _Same())
_both_ops = _ObserverOps(_told_both, _ended, _ended, _Evaluate(), _Callback(), _Same())
_tracked_ops = _ObserverOps(_told, _ended, _ended, _evaluated, _release, _same)


def _step(found: Anything, key: str) -> Anything:
    """The value of a key, as an evaluation reads it."""
    if found is None:
        return None
    if isinstance(found, Object):
        if key not in found._kvo_properties:
            raise _error(_UNDEFINED, f"'{type(found).__name__}' has no property '{key}'")
        return getattr(found, key)
    if isinstance(found, CObject):
        return found[key]
    what = "list" if isinstance(found, (_ListOf, CList, CSet)) else type(found).__name__
    raise _error(-15, f"'{key}' is read from a {what}, which is no observable object")


def _walk(root: "weakref.ref[Object]", keys: list[str]) -> Anything:
    found: Anything = root()
    for key in keys:
        found = _step(found, key)
    return found


def _name_of_class(found: Anything) -> str:
    return type(found).__name__ if isinstance(found, Object) else (_class_name(_object_class(found._kvo_address)) or b"").decode()


def observe(
    found: Anything, key_path: Anything, handler: Callable[[Change], Anything], options: int = NEW | OLD, *, owner: Anything = None
) -> Observation:
    """Calls handler(change) when the value of a key or key path of an object changes, on the thread that changes it.

    Instead of a key path, a function without parameters can be passed: then its value is observed, which changes with all properties that it
    reads. With an `owner` the observation ends with it: it is held weakly, also if the handler is one of its methods. What the handler
    raises is reported by sys.unraisablehook."""
    options = operator.index(options)
    if options & ~_KNOWN_OPTIONS:
        raise ValueError(f"unknown options: {options}")
    if not callable(handler):
        raise TypeError("the handler cannot be called")
    address = address_of(found)
    if not (C.c_size_t.from_address(address) if isinstance(found, CObject) else found._kvo_word).value:
        raise _error(-14, "the object is being destroyed")
    if _is_over:
        raise _error(-14, "the interpreter ends")
    name = "expression" if callable(key_path) else key_path
    path = _utf8(name)
    if owner is not None:
        weakref.ref(owner)  # which has to be possible
    if owner is not None and getattr(handler, "__self__", None) is owner:
        method = weakref.WeakMethod(handler)  # type: ignore[arg-type]
        handler = lambda change: (now := method()) and now(change)  # noqa: E731
    observation = Observation(found, name, handler, options)
    caller = sys._getframe(1)
    file, line = caller.f_code.co_filename.encode("utf-8", "surrogateescape"), caller.f_lineno
    if _keeps(found):
        found._kvo_observations.add(observation)
    else:
        _lasting[observation._number] = observation
    try:
        _register(observation, found, address, key_path, path, options, file, line)
    except BaseException:
        observation._forget()
        raise
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
    described = _BindingObserver(key_path=path, options=all_options, user_data=number, file=file, line=line, class_name=b"Python")
    described.address = number
    keys = [] if callable(key_path) else key_path.split(".")
    of = found._kvo_properties.get(keys[0]) if keys and isinstance(found, Object) else None
    if keys and of is None:
        raise _error(_UNDEFINED, f"'{type(found).__name__}' has no property '{keys[0]}'")
    if of is not None and len(keys) == 1 and not of.flags:
        described.ops = C.pointer(_both_ops if options == NEW | OLD and not isinstance(of, List) else _direct_ops)
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
    """The value of a key path of an object, such as "author.name" or "items.@sum.price". A path through a list gives the list of its elements'
    values; collection operators are those of libkvo. None where a value on the path is None."""
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
        if not isinstance(one, (Object, CObject)) and one is not None:
            raise _error(-15, f"'{key}' is set in a {type(one).__name__}, which is no observable object")
    for one in owners:
        if isinstance(one, Object):
            if key not in one._kvo_properties:
                raise _error(_UNDEFINED, f"'{type(one).__name__}' has no property '{key}'")
            setattr(one, key, value)
        elif one is not None:
            one[key] = value


_is_over = False


@atexit.register
def _end_all() -> None:
    """The interpreter ends: nothing may call it any more."""
    global _is_over
    _is_over = True
    for found in list(_observations.values()):
        observation = found()
        if observation is not None:
            observation.close()
    for instance in list(_instances.values()):
        living = instance()
        if living is not None and living.is_observed:  # by C
            _object_finish(living._kvo_address)
    for death in list(_deaths.values()):
        proxy = death()
        if proxy is not None:
            _cancel(proxy._kvo_death.value)
            proxy._kvo_death.value = 0


# ---------------------------------------------------------------------------------------------------- Classes and objects of C


class CClass:
    """A class of the runtime, of C or another language. It is looked up by its name for each use, because a plug-in may end it."""

    def __init__(self, name: str) -> None:
        _utf8(name)
        self.name = name

    @property
    def _pointer(self) -> int:
        found = _class_find(_utf8(self.name))
        if not found:
            raise _error(_INVALID, f"the class '{self.name}' has ended")
        return found

    @property
    def superclass(self) -> Optional["CClass"]:
        found = _class_superclass(self._pointer)
        return CClass(_class_name(found).decode()) if found else None

    @property
    def properties(self) -> dict[str, str]:
        """The keys, with inherited ones, and the type encodings."""
        pointer = self._pointer
        every = [_class_property_at(pointer, index) for index in range(_class_property_count(pointer))]
        return {_property_name(one).decode(): _property_type(one).decode() for one in every}

    def create(self) -> "CObject":
        """Makes an object, which is destroyed with the last reference of Python to it."""
        made = _address()
        _check(_object_create(self._pointer, C.byref(made)), self.name)
        found = wrap(made.value)
        found._kvo_owned = True
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


_proxies: "weakref.WeakValueDictionary[int, CObject]" = weakref.WeakValueDictionary()
_proxies_lock = threading.RLock()


class CObject:
    """An object of C: its properties are attributes, its to-many properties lists and sets. Once the object has died, they raise an Error."""

    __slots__ = ("_kvo_address", "_kvo_owned", "_kvo_death", "_kvo_observations", "__weakref__")

    _kvo_address: int
    _kvo_owned: bool
    _kvo_death: C.c_uint64
    _kvo_observations: "builtins.set[Observation]"

    def __init__(self) -> None:
        raise TypeError("an object of C is made by kvo.wrap or CClass.create")

    @property
    def _as_parameter_(self) -> C.c_void_p:
        return C.c_void_p(self._live())

    def _live(self) -> int:
        if not self._kvo_address:
            raise _error(-14, "the object of C has died")
        return self._kvo_address

    def check_key(self, key: str) -> str:
        """Returns the type encoding of a key."""
        cls = _object_class(self._live())
        found = _class_property(cls, _utf8(key))
        if not found:
            raise _error(_UNDEFINED, f"'{_class_name(cls).decode()}' has no property '{key}'")
        return _unqualified(_property_type(found).decode())

    def __getitem__(self, key: str) -> Anything:
        """The value of a key; object["key"] is for keys that are no identifiers."""
        encoding = self.check_key(key)
        address, text = self._live(), _utf8(key)
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
        _guarded(_set_value, self._live(), _utf8(key), C.byref(encoded.view), what=key)

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
        return [*super().__dir__(), *CClass(_name_of_class(self)).properties]

    def destroy(self) -> None:
        """Destroys an object that CClass.create has made. Its observations end."""
        if not self._kvo_owned:
            raise _error(_INVALID, "the object belongs to C")
        object.__setattr__(self, "_kvo_owned", False)
        _object_destroy(self._live())

    def release(self) -> int:
        """Leaves an object that CClass.create has made to C, which has to destroy it. Returns its address."""
        self._kvo_owned = False
        for observation in self._kvo_observations:
            observation._object = lambda: self
            _lasting[observation._number] = observation
        self._kvo_observations = builtins.set()
        return self._live()

    def __repr__(self) -> str:
        return f"<CObject {_name_of_class(self)} at {self._kvo_address:#x}>" if self._kvo_address else "<CObject, dead>"

    def __del__(self, cancel: Anything = _cancel, destroy: Anything = _object_destroy) -> None:
        if self._kvo_owned and self._kvo_address:
            destroy(self._kvo_address)
        elif self._kvo_death.value:
            cancel(self._kvo_death.value)


_deaths: dict[int, "weakref.ref[CObject]"] = {}


@_Destroy
def _died(number: int) -> None:
    with _proxies_lock:
        found = _deaths.pop(number)()
        if found is not None:
            if _proxies.get(found._kvo_address) is found:
                del _proxies[found._kvo_address]
            found._kvo_address = 0


_death_ops = _ObserverOps(_Callback(), _died, _Destroy(), _Evaluate(), _Callback(), _Same())


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


def wrap(pointer: Anything) -> Anything:
    """The Python object for a kvo_object of this address: an Object that Python has made, otherwise a CObject. None for NULL."""
    address = _pointed(pointer)
    if not address:
        return None
    known = _instance(address)
    if known is not None:
        return known
    with _proxies_lock:
        found = _proxies.get(address)
        if found is not None:
            return found
        if not _object_class(address):
            raise _error(_INVALID, f"there is no object at {address:#x}")
        found = object.__new__(CObject)
        found._kvo_owned, found._kvo_death, found._kvo_address = False, C.c_uint64(), address
        found._kvo_observations = builtins.set()
        _proxies[address] = found
    if _is_over:
        return found
    number = next(_numbers)
    _deaths[number] = weakref.ref(found)
    _check(_observe_death(address, C.byref(_death_ops), number, C.byref(found._kvo_death)))
    return found


class CList(MutableSequence):
    """A list of an object of C. Its mutations notify."""

    def __init__(self, owner: CObject, key: str, element: str) -> None:
        self._owner, self._key, self._element = owner, _utf8(key), element

    def __len__(self) -> int:
        count = _size()
        _check(_list_count(self._owner._live(), self._key, C.byref(count)))
        return count.value

    def _at(self, index: int) -> int:
        return range(len(self))[index]

    def __getitem__(self, index: Anything) -> Anything:
        if isinstance(index, slice):
            return [self[one] for one in range(len(self))[index]]
        with _Reading() as reading:
            _check(_list_get(self._owner._live(), self._key, self._at(index), _read, reading.key))
        return reading.value

    def __setitem__(self, index: Anything, value: Anything) -> None:
        encoded = _Encoded(value, self._element)
        _guarded(_list_replace, self._owner._live(), self._key, self._at(index), C.byref(encoded.view))

    def __delitem__(self, index: Anything) -> None:
        indexes = sorted(range(len(self))[index], reverse=True) if isinstance(index, slice) else [self._at(index)]
        for one in indexes:
            _guarded(_list_remove, self._owner._live(), self._key, one)

    def insert(self, index: int, value: Anything) -> None:
        count = len(self)
        at = max(0, index + count) if index < 0 else min(index, count)
        encoded = _Encoded(value, self._element)
        _guarded(_list_insert, self._owner._live(), self._key, at, C.byref(encoded.view))

    def __imul__(self, times: int) -> "CList":
        times = operator.index(times)
        if times > 0:
            self.extend(list(self) * (times - 1))
        else:
            del self[:]
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (CList, list)) and list(self) == list(other)

    def __repr__(self) -> str:
        return repr(list(self))


class CSet(MutableSet):
    """A set of an object of C. Its mutations notify."""

    def __init__(self, owner: CObject, key: str, element: str) -> None:
        self._owner, self._key, self._element = owner, _utf8(key), element

    @classmethod
    def _from_iterable(cls, values: Iterable) -> builtins.set:  # type: ignore[override]
        return builtins.set(values)

    def __len__(self) -> int:
        count = _size()
        _check(_members_count(self._owner._live(), self._key, C.byref(count)))
        return count.value

    def __contains__(self, value: object) -> bool:
        try:
            encoded, found = _Encoded(value, self._element), C.c_bool()
        except (TypeError, ValueError, OverflowError):
            return False
        _check(_members_contain(self._owner._live(), self._key, C.byref(encoded.view), C.byref(found)))
        return found.value

    def __iter__(self) -> Iterator:
        with _Reading() as reading:
            _check(_members_for_each(self._owner._live(), self._key, _read, reading.key))
        return iter(reading.values)

    def add(self, value: Anything) -> None:
        encoded = _Encoded(value, self._element)
        _guarded(_members_add, self._owner._live(), self._key, C.byref(encoded.view))

    def discard(self, value: Anything) -> None:
        if value in self:
            encoded = _Encoded(value, self._element)
            _guarded(_members_remove, self._owner._live(), self._key, C.byref(encoded.view))

    def __repr__(self) -> str:
        return repr(builtins.set(self))
