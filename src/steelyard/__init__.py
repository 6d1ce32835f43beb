"""Steelyard weighs programs: whether a version is faster, by how much, and how sure that is.

What Python programs may use is listed in `__all__`; docs/python.md describes it.
"""

from __future__ import annotations

import sys

from steelyard.core.version import __version__

# `typing` and `types` take a tenth of the time of a driver's call to load.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from steelyard.api.stored_experiments import ExperimentStore, Stored, open_store
    from steelyard.api.weigh_programs import compare, measure, resume
    from steelyard.api.weighed_experiment import Mean, Ratio, Weighed
    from steelyard.core.errors import SteelyardError

__all__ = [
    "ExperimentStore",
    "Mean",
    "Ratio",
    "SteelyardError",
    "Stored",
    "Weighed",
    "__version__",
    "compare",
    "measure",
    "open_store",
    "resume",
]
# Where each is: importing the package costs the command line nothing.
_HOMES = {
    **dict.fromkeys(("compare", "resume"), "steelyard.api.weigh_programs"),
    **dict.fromkeys(("Mean", "Ratio", "Weighed"), "steelyard.api.weighed_experiment"),
    **dict.fromkeys(
        ("ExperimentStore", "Stored", "open_store"), "steelyard.api.stored_experiments"
    ),
    "SteelyardError": "steelyard.core.errors",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'steelyard' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(type(sys)):
    """The package, of which `measure` is the function though a room has the same name: loading
    the room would put it in the function's place."""

    @property
    def measure(self) -> Any:
        from steelyard.api.weigh_programs import measure

        return measure

    @measure.setter
    def measure(self, room: ModuleType) -> None:
        """The room stays in `sys.modules`, where imports find it."""


sys.modules[__name__].__class__ = _Package
