"""All that a trial left besides its record, as one line of the journal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.measure.trial_artifacts import forget_taken, taken_line


def left_line(
    record: Mapping[str, Any], spec: ExperimentSpec, directory: str | None, *, telling: bool
) -> dict[str, Any]:
    """The journal's line on what a trial left, as `taken_line` makes it, with what a profiler said
    under ``profile``; empty where nothing is taken from it."""
    line = taken_line(record, spec, directory, telling=telling)
    if spec.profiles is None or spec.variants[record["variant"]].profiled is None:
        return line
    from steelyard.executors.local.profiled_launches import left_profile

    profile = left_profile(record, spec, directory)
    return {"printed": record["trial"], **line, "profile": profile} if profile else line


def forget_left(spec: ExperimentSpec, directory: str, position: int) -> None:
    """Remove the files of a trial whose line is in the journal."""
    forget_taken(directory, position)
    if spec.profiles is not None:
        from steelyard.executors.local.profiled_launches import forget_profile

        forget_profile(directory, position)
