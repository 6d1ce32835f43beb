"""Blocks of an experiment that repeats at several levels: where each trial stands in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.core.repetition import EXECUTION_LEVEL
from steelyard.design.blocks import PlannedTrial, block_order


@dataclass(frozen=True)
class Unit:
    """What executions of all variants share: the repetitions of the levels above them.

    `levels` holds the repetition of each user-named level, highest first, and `build` that of the
    build, all counted through the whole experiment.
    """

    levels: tuple[int, ...]
    build: int


def unit_of(spec: ExperimentSpec, position: int) -> Unit:
    """Where the trial at `position` stands; warm-ups stand where the first trial does."""
    if not spec.levels:
        return Unit((), 0)
    executions = _executions(spec)
    alone = spec.order == "sequential"
    block, place = divmod(max(0, position), spec.trials_of_variant * len(spec.variants))
    if alone:
        place %= spec.trials_of_variant
    else:
        place //= len(spec.variants)
    return _unit(spec, block * (spec.trials_of_variant // executions) + place // executions)


def plan_levelled_block(
    spec: ExperimentSpec, block: int, variants: Sequence[int]
) -> list[PlannedTrial]:
    """The trials of one repetition of the highest level, for these variants.

    Within a unit each pass runs every variant once, in random order, so that drift hits all of
    them alike. Of the sequential order, `variants` is one variant with positions of its own.
    """
    executions = _executions(spec)
    per_variant = spec.trials_of_variant
    position = block * per_variant * len(spec.variants)
    alone = spec.order == "sequential"
    if alone:
        position += variants[0] * per_variant
    planned: list[PlannedTrial] = []
    for pass_ in range(block * per_variant, (block + 1) * per_variant):
        unit = _unit(spec, pass_ // executions)
        order = list(variants)
        if not alone:
            order = block_order(spec.seed, pass_, len(spec.variants))
        for variant in order:
            planned.append(PlannedTrial(position, block, variant, build=unit.build))
            position += 1
    return planned


def _executions(spec: ExperimentSpec) -> int:
    """Executions in each unit: one where their level is the highest, or not named."""
    last = spec.levels[-1]
    return (last.count or 1) if last.name == EXECUTION_LEVEL else 1


def _unit(spec: ExperimentSpec, number: int) -> Unit:
    """The `number`-th unit of the experiment."""
    above = [level for level in spec.levels if level.name != EXECUTION_LEVEL]
    indices: list[int] = []
    for level in reversed(above):
        indices.append(number)
        number //= level.count or 1
    indices.reverse()
    if spec.repeats_builds:
        return Unit(tuple(indices[:-1]), indices[-1])
    return Unit(tuple(indices), 0)
