"""The errors that the package raises, made from the statuses of libkvo."""

from __future__ import annotations

from ._library import _last_error, _status_text


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


_OK, _INVALID, _NO_MEMORY, _UNDEFINED, _NOT_REGISTERED, _READ_ONLY, _MISMATCH, _DYING, _RANGE = 0, -1, -2, -8, -10, -11, -13, -14, -20
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
