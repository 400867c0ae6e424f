"""The constants, structures and function types of libkvo's C interface."""

from __future__ import annotations

import ctypes as C
from typing import Any as Anything

NONE, NEW, OLD, INITIAL, PRIOR = 0, 1, 2, 4, 8
SETTING, INSERTION, REMOVAL, REPLACEMENT = 1, 2, 3, 4
_ENDS_WITH_OBJECT = 1 << 8
_KNOWN_OPTIONS = NEW | OLD | INITIAL | PRIOR
_COMPUTED = 1 << 1
_WANTS_WILL = 8

_address, _size = C.c_void_p, C.c_size_t


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
_Ask = C.CFUNCTYPE(None, C.c_uint64, _address)
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
        ("same", _Same), ("is_here", _address), ("ask", _Ask), ("of_property", _address),
    ]  # fmt: skip


class _PropertySpec(C.Structure):
    _fields_ = [
        ("name", C.c_char_p), ("type", C.c_char_p), ("ops", C.POINTER(_ValueOps)), ("user", _address), ("affected_by", _address),
        ("flags", C.c_uint32),
    ]  # fmt: skip


class _ClassSpec(C.Structure):
    _fields_ = [
        ("struct_size", _size), ("name", C.c_char_p), ("superclass", _address), ("header_offset", _size),
        ("properties", C.POINTER(_PropertySpec)), ("property_count", _size), ("property_size", _size),
    ]  # fmt: skip


class _RawObserver(C.Structure):
    _fields_ = [
        ("struct_size", _size), ("key_path", C.c_char_p), ("options", C.c_int), ("ops", C.POINTER(_ObserverOps)), ("user_data", _address),
        ("context", _address), ("class_name", C.c_char_p), ("address", _address), ("file", C.c_char_p), ("line", C.c_uint32),
        ("note", C.c_char_p), ("is_receiver", C.c_bool), ("is_binding", C.c_bool), ("target", _address), ("target_key", C.c_uint64),
    ]  # fmt: skip

    def __init__(self, **members: Anything) -> None:
        super().__init__(struct_size=C.sizeof(_RawObserver), **members)


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
