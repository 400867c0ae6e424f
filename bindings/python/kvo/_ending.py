"""Ends the observations when the interpreter ends."""

from __future__ import annotations

import ctypes as C

from . import _observation
from ._binding import _watch_ops
from ._c_objects import _death_ops, _deaths
from ._delivery import _both_ops, _bound_ops, _direct_ops, _new_ops, _tracked_ops
from ._library import _cancel, _object_finish
from ._observable import _instances
from ._observation import _observations
from ._operations import _ops
from ._types import _address

_all_ops = (_both_ops, _bound_ops, _death_ops, _direct_ops, _new_ops, _ops, _tracked_ops, _watch_ops)
for _one in _all_ops:  # C may use them after the interpreter has freed what it still knows
    C.pythonapi.Py_IncRef(C.py_object(_one))


def _end_all() -> None:
    """The interpreter ends: nothing may call it any more."""
    _observation.is_over = True
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
    # A daemon thread in a change may call them when there is no interpreter. sched_yield needs none, and returns 0: no value.
    nothing = C.cast(C.CDLL(None).sched_yield, _address).value
    for ops in _all_ops:
        for name, _ in ops._fields_:
            member = _address.from_address(C.addressof(ops) + getattr(type(ops), name).offset)
            member.value = nothing if member.value else None
