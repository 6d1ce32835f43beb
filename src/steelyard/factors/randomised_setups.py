"""Randomised setups: a level of every nuisance factor, drawn for each trial or block.

Mytkowicz (2010), section 4.4: a comparison that is made at one setup speaks of that setup only;
drawn at random, setups make the conclusion one about all of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.core.experiment_spec import ExperimentSpec, NuisanceFactor, Variant
from steelyard.core.rng import derive_seed
from steelyard.factors.factor import Part
from steelyard.factors.kinds import FACTORS

# The column of tables that names the program, where an experiment has several.
BENCHMARK = "benchmark"


def drawn_setup(spec: ExperimentSpec, position: int, block: int) -> dict[str, str]:
    """The level of each nuisance factor, by its name, for the trial at `position` of `block`.

    What changes the launch is drawn for each trial, or for each block where `spec` asks for that,
    so that all variants of a block share it; what changes the build is drawn for each block.
    """
    return {factor.name: _drawn(spec, factor, position, block) for factor in spec.nuisance}


def _drawn(spec: ExperimentSpec, factor: NuisanceFactor, position: int, block: int) -> str:
    kind = FACTORS.get(factor.factor)
    shared = kind.part == "build" or spec.setup_each == "block"
    seed = derive_seed(spec.seed, "setup", factor.name, block if shared else position)
    if factor.levels:
        return factor.levels[seed % len(factor.levels)]
    if kind.draw is None:
        raise ValueError(f"The factor {kind.name} needs levels.")
    return kind.draw(seed, {**kind.draws, **dict(factor.options)})


def draws_host(spec: ExperimentSpec) -> bool:
    """Whether a nuisance factor changes the machine."""
    return any(FACTORS.get(factor.factor).part == "host" for factor in spec.nuisance)


def at_setup(
    variant: Variant, spec: ExperimentSpec, setup: Mapping[str, str], part: Part
) -> Variant:
    """`variant` at the levels of those nuisance factors that change this part of it."""
    for factor in spec.nuisance:
        kind = FACTORS.get(factor.factor)
        if kind.part == part:
            variant = kind.at(variant, setup[factor.name], factor.name, factor.texts)
    return variant
