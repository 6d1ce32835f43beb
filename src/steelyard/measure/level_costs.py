"""What builds and the commands of levels took, and which trials that belongs to.

The journal has a line for each of them, written before the trials that it is for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from steelyard.core.experiment_results import Trial
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.core.repetition import BUILD_LEVEL
from steelyard.design.level_positions import Unit, unit_of

BUILT = "built"
ENTERED = "entered"
COSTS = "costs_s"


def built_line(variant: int, build: int, about: Mapping[str, Any]) -> dict[str, Any]:
    """The line of a build; `about` has its ``cost_s``, and ``error`` where it failed."""
    return {BUILT: build, "variant": variant, **about}


def entered_line(level: str, index: int, cost_s: float) -> dict[str, Any]:
    """The line of the command of a user-named level."""
    return {ENTERED: level, "index": index, "cost_s": cost_s}


@dataclass(frozen=True)
class _Key:
    level: str
    index: int
    variant: int = -1


class LevelCosts:
    """The costs that lines of a journal tell of.

    Parameters
    ----------
    spec : ExperimentSpec
        Its levels say where a trial stands.
    """

    def __init__(self, spec: ExperimentSpec) -> None:
        self._spec = spec
        self._levels = [level.name for level in spec.user_levels]
        self._costs_s: dict[_Key, float] = {}
        self.builds: list[dict[str, Any]] = []

    def add(self, line: Mapping[str, Any]) -> None:
        """Take a line that `built_line` or `entered_line` made; others are passed over."""
        if BUILT in line:
            self._costs_s[_Key(BUILD_LEVEL, line[BUILT], line["variant"])] = line["cost_s"]
            self.builds.append({"build": line[BUILT], **_without(line, BUILT)})
        elif ENTERED in line:
            self._costs_s[_Key(line[ENTERED], line["index"])] = line["cost_s"]

    def placed(self, trial: Trial) -> Trial:
        """`trial` with its place in the levels, and what those cost."""
        if not self._spec.levels and not self._costs_s:
            return trial
        unit = unit_of(self._spec, trial.position)
        costs_s = self._costs_of(unit, trial.variant)
        details = {**trial.details, COSTS: costs_s} if costs_s else trial.details
        return replace(trial, levels=unit.levels, details=details)

    def _costs_of(self, unit: Unit, variant: int) -> dict[str, float]:
        keys = [_Key(name, i) for name, i in zip(self._levels, unit.levels, strict=True)]
        keys.append(_Key(BUILD_LEVEL, unit.build, variant))
        return {key.level: self._costs_s[key] for key in keys if key in self._costs_s}


def _without(line: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in line.items() if key != name}
