"""Properties of the machine: one file each, with what can be done with it.

A file defines as much of these as the property has: a `KNOB` (read, make quiet, put back), a
`SETTING` (brings a level about while trials run), and the `FACTOR` by which experiments ask for
levels. All that a file defines carries the name of the property.
"""

from __future__ import annotations

from steelyard.core.registry import Folder, Registry
from steelyard.host.knob import Knob
from steelyard.host.setting import Setting

KNOBS: Registry[Knob] = Registry("knob", Folder(__name__, "KNOB"), "steelyard.knobs")
SETTINGS: Registry[Setting] = Registry("setting", Folder(__name__, "SETTING"), "steelyard.settings")


def default_knobs() -> list[str]:
    """The knobs that are set when none is named: those that help and cannot do harm."""
    return [knob.name for knob in KNOBS if knob.in_default_set]
