"""Ends the observations when the interpreter ends."""

from __future__ import annotations

from . import _observation
from ._c_objects import _deaths
from ._library import _cancel, _object_finish
from ._observable import _instances
from ._observation import _observations


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
