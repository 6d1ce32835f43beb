"""The levels of the machine that a trial found, in the journal and with the trial.

The line is written before the trial, once the levels are in force.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from steelyard.core.experiment_results import Trial

AT_LEVELS = "at_levels"


def levels_line(position: int, realised: Mapping[str, str]) -> dict[str, Any]:
    """The line of the trial at `position`: what was realised, by factor."""
    return {AT_LEVELS: position, "realised": dict(realised)}


def with_levels(trial: Trial, realised: Mapping[str, str]) -> Trial:
    """`trial` with these among what was realised."""
    return replace(trial, realised={**trial.realised, **realised}) if realised else trial
