"""From measurements at every repetition level to one value for each unit of the top level."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from steelyard.core.model import Trial


@dataclass(frozen=True)
class TopLevel:
    """The values of one metric of one variant, reduced to the top repetition level.

    Parameters
    ----------
    values : tuple of float
        The mean of each unit, in the order of their making.
    units : tuple of int
        The build of each where there are several builds, else its block.
    """

    values: tuple[float, ...]
    units: tuple[int, ...]


def analysed_trials(trials: Iterable[Trial], variant: int) -> list[Trial]:
    """The trials of a variant that give values: not warm-ups, not failed; in order."""
    return [t for t in trials if t.variant == variant and t.status == "ok" and not t.warmup]


def iteration_values(values: Sequence[float]) -> Sequence[float]:
    """The iterations of a trial as a list, which sums faster than other sequences do."""
    as_list: Any = getattr(values, "tolist", None)
    return as_list() if as_list is not None else values


def top_level(trials: Sequence[Trial], metric: str) -> TopLevel:
    """One value for each unit of the top repetition level.

    Parameters
    ----------
    trials : sequence of Trial
        The analysed trials of one variant.
    metric : str
        Trials without it are left out.

    Notes
    -----
    Each level is reduced by its mean: iterations to an execution, executions to a build or a
    block. Kalibera and Jones, ISMM 2013, section 9.3: the interval of several levels is that of
    these means.
    """
    by_build = has_builds(trials)
    executions: dict[int, list[float]] = {}
    for trial in trials:
        values = trial.measurements.get(metric)
        if values is None or len(values) == 0:
            continue
        if len(values) == 1:
            mean = float(values[0])
        else:
            mean = fsum(iteration_values(values)) / len(values)
        executions.setdefault(trial.build if by_build else trial.block, []).append(mean)
    means = [v[0] if len(v) == 1 else fsum(v) / len(v) for v in executions.values()]
    return TopLevel(tuple(means), tuple(executions))


def has_builds(trials: Sequence[Trial]) -> bool:
    """Whether the trials come from more than one build."""
    return any(trial.build != trials[0].build for trial in trials)


def repetitions(trials: Sequence[Trial], metric: str) -> Mapping[str, int]:
    """How often each level was repeated: builds, executions a build, iterations an execution.

    Where the counts of units differ, the largest is given.
    """
    executions: dict[int, int] = {}
    iterations = 0
    for trial in trials:
        executions[trial.build] = executions.get(trial.build, 0) + 1
        iterations = max(iterations, len(trial.measurements.get(metric, ())))
    return {
        "build": len(executions),
        "execution": max(executions.values(), default=0),
        "iteration": iterations,
    }


def common_units(variants: Sequence[TopLevel]) -> list[list[float]]:
    """The values of each variant in the units that every one of them has, in their order."""
    if all(item.units == variants[0].units for item in variants[1:]):
        return [list(item.values) for item in variants]
    tables = [dict(zip(item.units, item.values, strict=True)) for item in variants]
    shared = [unit for unit in tables[0] if all(unit in table for table in tables[1:])]
    return [[table[unit] for unit in shared] for table in tables]
