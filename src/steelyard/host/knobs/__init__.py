"""The knobs: one file each. Put another file with an ``EXTENSION`` here to add one."""

from __future__ import annotations

from steelyard.core.registry import Registry
from steelyard.host.knob import Knob

KNOBS: Registry[Knob] = Registry("knob", __name__, "steelyard.knobs")


def default_knobs() -> list[str]:
    """The knobs that are set when none is named: those that help and cannot do harm."""
    return [knob.name for knob in KNOBS if knob.in_default_set]
