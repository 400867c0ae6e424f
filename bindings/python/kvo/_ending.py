"""Ends the observations when the interpreter ends."""

from __future__ import annotations

import ctypes as C

from . import _observation
from ._binding import _watch_ops
from ._c_objects import _death_ops, _deaths
from ._delivery import _both_ops, _bound_ops, _direct_ops, _tracked_ops
from ._library import _cancel, _object_finish
from ._observable import _instances
from ._observation import _observations
from ._operations import _ops
from ._types import _address, _ObserverOps

_observer_ops = (_both_ops, _bound_ops, _death_ops, _direct_ops, _tracked_ops, _watch_ops)
for _one in (*_observer_ops, _ops):  # C may use them after the interpreter has freed what it still knows
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
    for ops in _observer_ops:  # what a thread that is ending frees calls no Python
        for member in (_ObserverOps.destroy, _ObserverOps.abandon):
            _address.from_address(C.addressof(ops) + member.offset).value = None
