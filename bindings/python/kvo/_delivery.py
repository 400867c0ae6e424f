"""Calls the handlers of observations when the runtime tells a change, and evaluates what they observe."""

from __future__ import annotations

from typing import Any as Anything, Optional, TYPE_CHECKING

from ._decoding import _decode
from ._errors import Error
from ._guards import _read_by_c
from ._handles import _kept, _nows, _release, _value, _values
from ._lists import _ListOf
from ._memory import _calls
from ._observation import Change, _DetailedChange, _lasting, _observations
from ._operations import _same
from ._reports import _failed, _failed_path, _interrupted, _thread
from ._types import _Callback, _CChange, _Destroy, _Evaluate, _ObserverOps, _RawChange, _Same, SETTING

if TYPE_CHECKING:
    from ._observation import Observation

_make = tuple.__new__

_raws: dict[int, _RawChange] = {}
"""Views of the records at addresses where there often is one: on the stack."""


def _deliver(number: int, kind: int, old: Anything, new: Anything, indexes: Optional[list[int]], is_prior: bool) -> None:
    found = _observations.get(number)
    observation = found() if found is not None else None
    if observation is not None:
        depth = _calls.depth
        _calls.depth = depth + 1
        try:
            observation._handler(_make(_DetailedChange, (observation, old, new, kind, indexes, is_prior)))
        except BaseException as error:
            _failed(error, observation._handler)
        finally:
            _calls.depth = depth


@_Callback
def _told(change: int, number: int) -> None:
    raw = _raws.get(change) or _RawChange.from_address(change)
    if len(_raws) < 1000:
        _raws[change] = raw
    if _calls.memory and not _calls.depth:
        _calls.ended.tell(change, number, raw.is_prior)
    kind = raw.kind
    indexes = raw.indexes[: raw.count] if kind != SETTING and raw.indexes else None
    _deliver(number, kind, _value(raw.old), _value(raw.new), indexes, raw.is_prior)


@_Callback
def _told_both(change: int, number: int) -> None:
    """The usual case: a set of a property, of which the old and the new value are wanted."""
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
    except RecursionError as error:  # no room to call a function
        if _thread.interrupt is None:
            _interrupted[:0] = [True]
        _thread.interrupt = error
    except BaseException as error:
        _failed(error, observation._handler)  # type: ignore[union-attr]


@_Callback
def _told_new(change: int, number: int) -> None:
    """The same, if only the new value is wanted."""
    try:
        try:
            values, name = _nows[_raws[change].new]
            observation = _observations[number]()
            made = _make(Change, (observation, None, values[name]))
            handler = observation._handler  # type: ignore[union-attr]
        except (AttributeError, KeyError):
            _told(change, number)
            return
        handler(made)
    except RecursionError as error:
        if _thread.interrupt is None:
            _interrupted[:0] = [True]
        _thread.interrupt = error
    except BaseException as error:
        _failed(error, observation._handler)  # type: ignore[union-attr]


@_Callback
def _told_by_c(change: int, number: int) -> None:
    depth = _calls.depth
    try:
        told = _CChange.from_address(change)
        if not depth and _calls.memory:
            _calls.ended.tell(change, number, told.is_prior)
        _calls.depth = depth + 1
        indexes = told.indexes[: told.count] if told.indexes else None
        _deliver(number, told.kind, _decode(told.old), _decode(told.new), indexes, told.is_prior)
    except BaseException as error:
        _failed(error, f"observation {number}")
    finally:
        _calls.depth = depth


@_Callback
def _bound(change: int, number: int) -> None:
    """A binding sets its target. What it cannot set is an error of the assignment, as that of a key path is."""
    depth = _calls.depth
    try:
        raw = _RawChange.from_address(change)
        found = _observations.get(number)
        binding = found() if found is not None else None
        if binding is None or not raw.new:  # it has ended, or the function has raised
            return
        if not depth and _calls.memory:
            _calls.ended.tell(change, number, raw.is_prior)
        _calls.depth = depth + 1
        binding._handler(_value(raw.new))
    except Exception as error:
        _failed_path(error, f"binding {number}")
    except BaseException as error:
        _failed(error, f"binding {number}")
    finally:
        _calls.depth = depth


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
        root = observation.object if observation is not None else None
        if observation is None or observation._evaluate is None or root is None:  # it has ended
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
_new_ops = _ObserverOps(_told_new, _ended, _ended, _Evaluate(), _Callback(), _Same())
_bound_ops = _ObserverOps(_bound, _ended, _ended, _evaluated, _release, _same)
_tracked_ops = _ObserverOps(_told, _ended, _ended, _evaluated, _release, _same)
