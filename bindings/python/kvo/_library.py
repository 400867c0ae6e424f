"""Loads libkvo and declares the functions that the package calls.

Functions of the runtime that may call the program are called without the interpreter's lock.
"""

from __future__ import annotations

import ctypes as C
import ctypes.util
import os
from typing import Any as Anything

from ._types import _address, _Reader, _size


def _find_library() -> str:
    return os.environ.get("KVO_LIBRARY") or ctypes.util.find_library("kvo") or "libkvo.so.1"


try:
    _library = C.CDLL(_find_library())
except OSError as error:
    raise ImportError(f"libkvo is not found ({error}): install it, or name the file in KVO_LIBRARY") from None
_held = C.PyDLL(_library._name, handle=_library._handle)


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
_class_register = _short("kvo_raw_class_register", C.c_int, _address, _address)
_property_name = _short("kvo_property_name", C.c_char_p, _address)
_property_type = _short("kvo_property_type", C.c_char_p, _address)
_object_class = _short("kvo_object_class", _address, _address)
_object_init = _short("kvo_object_adopt", None, _address, _address)
_object_create = _short("kvo_object_create", C.c_int, _address, _address)
_object_finish = _function("kvo_object_finish", None, _address)
_object_destroy = _function("kvo_object_destroy", None, _address)
_object_is_observed = _short("kvo_object_is_observed", C.c_bool, _address)
_observe_key = _function("kvo_raw_observe", C.c_int, _address, C.c_uint64, _address, _address)
_observe_tracked = _function("kvo_raw_observe_expression", C.c_int, _address, _address, C.c_bool, _address)
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
