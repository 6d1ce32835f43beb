"""The effect of one factor as ratios, while an experiment runs and when it has stopped by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from steelyard.analysis.comparison.stopping import Side, Stopping, side_means
from steelyard.analysis.comparison.unit_values import analysed_trials, top_level
from steelyard.analysis.intervals.simultaneous import group_confidence
from steelyard.core.errors import UsageError
from steelyard.core.estimate import Interval
from steelyard.core.experiment_results import Trial
from steelyard.core.experiment_spec import ExperimentSpec


@dataclass(frozen=True)
class NamedEffect:
    """A ratio between two sides of a design, over all levels of the other factors.

    Parameters
    ----------
    group : str
        The benchmark; empty where there is one.
    term : str
        What is compared, such as ``optimisation: -O3 / -O2``.
    ratio : Interval
        Corrected for stopping by it.
    """

    group: str
    term: str
    ratio: Interval


def effect_sides(spec: ExperimentSpec, group: Sequence[int], term: str) -> tuple[Side, ...]:
    """The variants on each side of an effect, the baseline's first.

    Parameters
    ----------
    spec : ExperimentSpec
    group : sequence of int
        Variants of one benchmark.
    term : str
        A factor: a side for each level. ``A:B``: those whose coded levels multiply to -1, and +1.

    Raises
    ------
    UsageError
        It names no factor that is varied, or an interaction of factors with other than two levels.
    """
    varied = dict(spec.varied)
    names = term.split(":")
    for name in names:
        if name not in varied:
            raise UsageError(
                f"The effect {term!r} names {name!r}, which is no factor. Factors: "
                f"{', '.join(varied)}.",
                field="experiment.effect",
            )
        if len(names) > 1 and len(varied[name]) != 2:
            raise UsageError(
                f"The interaction {term!r} has no single ratio: {name!r} has "
                f"{len(varied[name])} levels. Name one factor, or two-level ones.",
                field="experiment.effect",
            )
    sides: dict[int, list[int]] = {}
    for index in group:
        levels = dict(spec.variants[index].parameters)
        codes = [varied[name].index(levels[name]) for name in names]
        side = codes[0] if len(codes) == 1 else int(prod(2 * code - 1 for code in codes) > 0)
        sides.setdefault(side, []).append(index)
    return tuple(tuple(sides[side]) for side in sorted(sides))


def named_effects(spec: ExperimentSpec, trials: Sequence[Trial]) -> tuple[NamedEffect, ...]:
    """The ratios that an experiment was stopped by, of the blocks that it has.

    Parameters
    ----------
    spec : ExperimentSpec
        Its rule to stop names an effect.
    trials : sequence of Trial

    Notes
    -----
    Fieller's interval of the means of blocks, its quantile widened as `stopping.py` does for
    those who stop when it has become narrow. For several benchmarks all hold together.
    """
    groups = spec.groups()
    confidence = group_confidence(spec.confidence, len(groups))
    found: list[NamedEffect] = []
    for group in groups:
        sides = effect_sides(spec, group, spec.stopping.effect)
        rule = Stopping(spec.stopping, len(sides), confidence)
        for values in _block_values(spec, trials, group):
            rule.add_block(side_means(values, sides))
        names = _side_names(spec)
        for name, ratio in zip(names[1:], rule.look().intervals, strict=True):
            term = f"{spec.stopping.effect}: {name} / {names[0]}"
            found.append(NamedEffect(spec.variants[group[0]].group, term, ratio))
    return tuple(found)


def _side_names(spec: ExperimentSpec) -> tuple[str, ...]:
    term = spec.stopping.effect
    varied = dict(spec.varied)
    if ":" not in term:
        return varied[term]
    names = term.split(":")
    sides: tuple[list[str], list[str]] = ([], [])
    for codes in product((0, 1), repeat=len(names)):
        levels = ",".join(varied[name][code] for name, code in zip(names, codes, strict=True))
        sides[prod(2 * code - 1 for code in codes) > 0].append(levels)
    return tuple(" and ".join(side) for side in sides)


def _block_values(
    spec: ExperimentSpec, trials: Sequence[Trial], group: Sequence[int]
) -> list[dict[int, float | None]]:
    """For each whole block the mean of each variant."""
    metric = spec.primary_metric.name
    blocks: dict[int, list[Trial]] = {}
    for trial in trials:
        if not trial.warmup and trial.variant in group:
            blocks.setdefault(trial.block, []).append(trial)
    found: list[dict[int, float | None]] = []
    for number in sorted(blocks):
        block = blocks[number]
        if len(block) < len(group) * spec.trials_of_variant:
            continue
        tops = {v: top_level(analysed_trials(block, v), metric).values for v in group}
        found.append({v: values[0] if values else None for v, values in tops.items()})
    return found
