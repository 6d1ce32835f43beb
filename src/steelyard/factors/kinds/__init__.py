"""The factors that experiments can vary. One factor is one file with an `EXTENSION`.

A factor of the machine stands with what brings its levels about: as the `FACTOR` in the file of
that property of the machine. Their folder is named here and not imported, for this room is pure.
"""

from __future__ import annotations

from steelyard.core.registry import Folder, Registry
from steelyard.factors.factor import Factor

FACTORS: Registry[Factor] = Registry(
    "factor",
    "steelyard.factors.kinds",
    "steelyard.factors",
    also=(Folder("steelyard.host.properties", "FACTOR"),),
)
