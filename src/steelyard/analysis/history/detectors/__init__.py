"""The detectors of changes along revisions: one file each, defining ``EXTENSION``, a `Detector`.

The calculation itself lies beside this folder. tests/contracts runs over every one.
"""

from __future__ import annotations

from steelyard.analysis.history.detector import Detector
from steelyard.core.registry import Registry

DETECTORS: Registry[Detector] = Registry(
    "detector", "steelyard.analysis.history.detectors", "steelyard.detectors"
)
