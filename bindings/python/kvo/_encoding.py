"""Converts values of Python to values of C, by their type encodings."""

from __future__ import annotations

import ctypes as C
import operator
from typing import Any as Anything

from ._errors import _error, _MISMATCH
from ._observable import address_of, _Observable
from ._types import _Value

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
    if value is None or isinstance(value, _Observable):
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
