"""From measurements at every repetition level to one value for each unit of the top level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import fsum
from typing import Any

from steelyard.core.experiment_results import Trial
from steelyard.core.repetition import BUILD_LEVEL


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
    Each level is reduced by its mean: iterations to an execution, executions to a build, builds to
    the level above, up to a block. Kalibera and Jones, ISMM 2013, section 9.3: the interval of
    several levels is that of these means.
    """
    return top_levels(trials, (metric,))[metric]


def top_levels(trials: Sequence[Trial], metrics: Iterable[str]) -> dict[str, TopLevel]:
    """The same of several metrics, for which the trials are looked at once."""
    by_build = has_builds(trials)
    nested = bool(trials) and bool(trials[0].levels)
    blocks = None if by_build or nested else _own_blocks(trials)
    found: dict[str, TopLevel] = {}
    for metric in metrics:
        plain = None if blocks is None else _one_value_a_block(trials, metric, blocks)
        found[metric] = plain or _reduced(trials, metric, by_build, nested)
    return found


def _reduced(trials: Sequence[Trial], metric: str, by_build: bool, nested: bool) -> TopLevel:
    executions: dict[Any, list[float]] = {}
    for trial in trials:
        values = trial.measurements.get(metric)
        if values is None or len(values) == 0:
            continue
        if len(values) == 1:
            mean = float(values[0])
        else:
            mean = fsum(iteration_values(values)) / len(values)
        unit = trial.build if by_build else trial.block
        executions.setdefault((*trial.levels, unit) if nested else unit, []).append(mean)
    if nested:
        executions = _top_of(executions)
    means = [v[0] if len(v) == 1 else fsum(v) / len(v) for v in executions.values()]
    return TopLevel(tuple(means), tuple(executions))


def _own_blocks(trials: Sequence[Trial]) -> tuple[int, ...] | None:
    """The blocks of the trials; None where two have the same one."""
    blocks = tuple([trial.block for trial in trials])
    return blocks if len(set(blocks)) == len(blocks) else None


def _one_value_a_block(
    trials: Sequence[Trial], metric: str, blocks: tuple[int, ...]
) -> TopLevel | None:
    """The values where every trial has one, and a block of its own; None where one has not.

    Most experiments are so, and some have a million trials.
    """
    series = [trial.measurements.get(metric, ()) for trial in trials]
    if set(map(len, series)) != {1}:
        return None
    return TopLevel(tuple(chain.from_iterable(series)), blocks)


def _top_of(means: Mapping[tuple[int, ...], list[float]]) -> dict[int, list[float]]:
    """The means right below the highest level, gathered by its units."""
    while len(next(iter(means), (0, 0))) > 2:
        means = _above(means)
    return {unit: values for (unit,), values in _above(means).items()}


def _above(means: Mapping[tuple[int, ...], list[float]]) -> dict[tuple[int, ...], list[float]]:
    """The mean of each unit, gathered by the unit of the level above."""
    found: dict[tuple[int, ...], list[float]] = {}
    for unit, values in means.items():
        found.setdefault(unit[:-1], []).append(fsum(values) / len(values))
    return found


def has_builds(trials: Sequence[Trial]) -> bool:
    """Whether the trials come from more than one build."""
    return len({trial.build for trial in trials}) > 1


def spent_s(trials: Sequence[Trial], user_levels: Sequence[str] = ()) -> float:
    """What the trials of one variant took, with their builds and the commands of their levels.

    Commands of levels serve all variants, and count fully for each.
    """
    total_s = sum([trial.spent_s for trial in trials])
    # Trials that have nothing else to tell share their details.
    told = {id(trial.details): trial.details for trial in trials}
    if not any("costs_s" in details for details in told.values()):
        return total_s
    counted: set[tuple[str, int]] = set()
    for trial in trials:
        costs_s: Mapping[str, float] = trial.details.get("costs_s", {})
        for level, cost_s in costs_s.items():
            build = level == BUILD_LEVEL
            unit = level, trial.build if build else trial.levels[user_levels.index(level)]
            if unit not in counted:
                counted.add(unit)
                total_s += cost_s
    return total_s


def repetitions(
    trials: Sequence[Trial], metric: str, user_levels: Sequence[str] = ()
) -> Mapping[str, int]:
    """How often each level was repeated in a unit of the level above.

    Parameters
    ----------
    user_levels : sequence of str
        The names of those that `Trial.levels` counts, highest first.

    Returns
    -------
    mapping of level to int
        Highest first: those levels, builds, executions of a build, iterations of an execution.
        Where the counts of units differ, the largest is given.
    """
    if trials and not user_levels and not any(trial.levels for trial in trials):
        return _repetitions_of_builds(trials, metric)
    found: dict[str, int] = {}
    units = {(*trial.levels, trial.build) for trial in trials}
    for depth, name in enumerate((*user_levels, "build")):
        inside: dict[tuple[int, ...], int] = {}
        for unit in {unit[: depth + 1] for unit in units}:
            inside[unit[:-1]] = inside.get(unit[:-1], 0) + 1
        found[name] = max(inside.values(), default=0)
    executions: dict[tuple[int, ...], int] = {}
    iterations = 0
    for trial in trials:
        unit = (*trial.levels, trial.build)
        executions[unit] = executions.get(unit, 0) + 1
        iterations = max(iterations, len(trial.measurements.get(metric, ())))
    found["execution"] = max(executions.values(), default=0)
    return {**found, "iteration": iterations}


def _repetitions_of_builds(trials: Sequence[Trial], metric: str) -> Mapping[str, int]:
    """The same for trials without levels of the user, of which there may be a million."""
    executions = Counter([trial.build for trial in trials])
    iterations = max([len(trial.measurements.get(metric, ())) for trial in trials])
    return {
        "build": len(executions),
        "execution": max(executions.values()),
        "iteration": iterations,
    }


def common_units(variants: Sequence[TopLevel]) -> list[list[float]]:
    """The values of each variant in the units that every one of them has, in their order."""
    if all(item.units == variants[0].units for item in variants[1:]):
        return [list(item.values) for item in variants]
    tables = [dict(zip(item.units, item.values, strict=True)) for item in variants]
    shared = [unit for unit in tables[0] if all(unit in table for table in tables[1:])]
    return [[table[unit] for unit in shared] for table in tables]
