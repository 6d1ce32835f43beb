"""From measurements at every repetition level to one value for each unit of the top level."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from steelyard.core.experiment_results import Trial
from steelyard.core.repetition import BUILD_LEVEL
from steelyard.core.trial_columns import MANY, ValueColumn, numbers_at
from steelyard.core.trial_table import TrialTable


@dataclass(frozen=True)
class TopLevel:
    """The values of one metric of one variant, reduced to the top repetition level.

    Parameters
    ----------
    values : sequence of float
        The mean of each unit, in the order of their making: a tuple, or an array of many.
    units : sequence of int
        The build of each where there are several builds, else its block.
    """

    values: Sequence[float]
    units: Sequence[int]


def analysed_trials(trials: Sequence[Trial], variant: int) -> TrialTable:
    """The trials of a variant that give values: not warm-ups, not failed; in order."""
    table = TrialTable.of(trials)
    pick = _picked_of_many if len(table) >= MANY else numbers_at
    return table.only(variant, warmup=False, failed=False, pick=pick)


def _picked_of_many(column: array[Any], places: Sequence[int]) -> array[Any]:
    """The numbers at these places, in their order."""
    import numpy as np

    found = column[:0]
    found.frombytes(np.frombuffer(column, column.typecode)[np.asarray(places)].tobytes())
    return found


def with_values(trials: TrialTable, metric: str) -> TrialTable:
    """Those of the trials that have a value of a metric."""
    column = trials.measurements.get(metric)
    if column is None:
        return TrialTable()
    if column.counts is None:
        return trials
    return trials.picked([place for place, count in enumerate(column.counts) if count > 0])


def iteration_counts(trials: TrialTable, metric: str) -> set[int]:
    """How many iterations of a metric trials have: each count once."""
    column = trials.measurements.get(metric)
    if column is None or not len(trials):
        return {0} if len(trials) else set()
    return {1} if column.counts is None else {max(0, count) for count in column.counts}


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
    table = TrialTable.of(trials)
    nested = len(table) > 0 and bool(table.levels[0])
    units = table.build if has_builds(table) else table.block
    alone = not nested and len(set(units)) == len(units)
    found: dict[str, TopLevel] = {}
    for metric in metrics:
        column = table.measurements.get(metric)
        if column is None:
            found[metric] = TopLevel((), ())
        elif alone and column.counts is None:
            # Most experiments are so, and some have a million trials.
            found[metric] = TopLevel(short(column.values), short(units))
        else:
            found[metric] = _reduced(table, column, units, nested)
    return found


def short(column: array[Any]) -> Sequence[Any]:
    """A column as a tuple, which equals another one, where it is not long."""
    return tuple(column) if len(column) < MANY else column


def _reduced(table: TrialTable, column: ValueColumn, units: array[int], nested: bool) -> TopLevel:
    executions: dict[Any, list[float]] = {}
    for values, unit, levels in zip(column.series(), units, table.levels, strict=True):
        if values is None or len(values) == 0:
            continue
        if len(values) == 1:
            mean = float(values[0])
        else:
            mean = fsum(iteration_values(values)) / len(values)
        executions.setdefault((*levels, unit) if nested else unit, []).append(mean)
    if nested:
        executions = _top_of(executions)
    means = [v[0] if len(v) == 1 else fsum(v) / len(v) for v in executions.values()]
    return TopLevel(tuple(means), tuple(executions))


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


def has_builds(trials: TrialTable) -> bool:
    """Whether the trials come from more than one build."""
    return len(set(trials.build)) > 1


def spent_s(trials: TrialTable, user_levels: Sequence[str] = ()) -> float:
    """What the trials of one variant took, with their builds and the commands of their levels.

    Commands of levels serve all variants, and count fully for each.
    """
    total_s = sum(trials.spent_s)
    # Trials that have nothing else to tell share their details.
    if not any("costs_s" in details for details in trials.details.known):
        return total_s
    counted: set[tuple[str, int]] = set()
    for details, own_build, levels in zip(trials.details, trials.build, trials.levels, strict=True):
        costs_s: Mapping[str, float] = details.get("costs_s", {})
        for level, cost_s in costs_s.items():
            build = level == BUILD_LEVEL
            unit = level, own_build if build else levels[user_levels.index(level)]
            if unit not in counted:
                counted.add(unit)
                total_s += cost_s
    return total_s


def repetitions(
    trials: TrialTable, metric: str, user_levels: Sequence[str] = ()
) -> Mapping[str, int]:
    """How often each level was repeated in a unit of the level above.

    Parameters
    ----------
    user_levels : sequence of str
        The names of those that the levels of a trial count, highest first.

    Returns
    -------
    mapping of level to int
        Highest first: those levels, builds, executions of a build, iterations of an execution.
        Where the counts of units differ, the largest is given.
    """
    iterations = max(iteration_counts(trials, metric), default=0)
    if len(trials) and not user_levels and not any(trials.levels.known):
        builds = Counter(trials.build)
        return {
            "build": len(builds),
            "execution": max(builds.values()),
            "iteration": iterations,
        }
    executions = Counter(
        (*levels, build) for levels, build in zip(trials.levels, trials.build, strict=True)
    )
    found: dict[str, int] = {}
    for depth, name in enumerate((*user_levels, "build")):
        inside = Counter(unit[:-1] for unit in {unit[: depth + 1] for unit in executions})
        found[name] = max(inside.values(), default=0)
    found["execution"] = max(executions.values(), default=0)
    return {**found, "iteration": iterations}


def common_units(variants: Sequence[TopLevel]) -> list[Sequence[float]]:
    """The values of each variant in the units that every one of them has, in their order."""
    if all(item.units == variants[0].units for item in variants[1:]):
        return [item.values for item in variants]
    tables = [dict(zip(item.units, item.values, strict=True)) for item in variants]
    shared = [unit for unit in tables[0] if all(unit in table for table in tables[1:])]
    return [[table[unit] for unit in shared] for table in tables]
