"""Experiments whose trials print what follows from their place in the plan."""

from __future__ import annotations

import os
from typing import Any

from steelyard.core.build_spec import BuildSpec
from steelyard.core.experiment_spec import (
    ExperimentSpec,
    LaunchSpec,
    MetricSpec,
    NuisanceFactor,
    Variant,
)
from steelyard.core.repetition import RepetitionLevel
from steelyard.core.stopping_spec import StoppingSpec

IDENTIFIER = "01M7Y65N01QFXKFKNECSXHPS2X"
PRINTED = MetricSpec("printed", "1", source="regex", pattern=r"printed (\d+)")
BUILT = BuildSpec(("/bin/sh", "-c", "echo made > program"))
# A directory of a build ends in its number.
PRINT_BUILD = "n={build}; n=${n##*-}; echo printed ${n#${n%%[1-9]*}}0; cat {build}/program"
PRINT_PADDING = "env | wc -c | sed 's/^ */printed /'"


def spec_of(script: str, **changes: Any) -> ExperimentSpec:
    """Two variants that run a script of the shell, five times unless something else is said."""
    build = BUILT if "{build}" in script else None
    launch = LaunchSpec(("/bin/sh", "-c", script))
    variants = tuple(Variant(name, launch, build=build) for name in ("old", "new"))
    parts: dict[str, Any] = {
        "identifier": IDENTIFIER,
        "kind": "comparison",
        "variants": variants,
        "metrics": (PRINTED, MetricSpec("wall_time", "s")),
        "seed": 7,
        "stopping": StoppingSpec(runs=5),
    }
    return ExperimentSpec(**{**parts, **changes})


def levels(*named: tuple[str, int | None]) -> tuple[RepetitionLevel, ...]:
    """Levels by their names and counts, the highest first."""
    return tuple(RepetitionLevel(name, count) for name, count in named)


PADDING = NuisanceFactor("padding", "environment-size", ("0", "100", "2000"))
# By what they are about.
PLANS = {
    "blocks": spec_of("echo printed 3"),
    "one after the other": spec_of("echo printed 3", order="sequential"),
    "warm-ups": spec_of("echo printed 3", warmup_count=2),
    "drawn for each trial": spec_of(PRINT_PADDING, nuisance=(PADDING,), setup_each="trial"),
    "drawn for each block": spec_of(PRINT_PADDING, nuisance=(PADDING,)),
    "builds": spec_of(
        PRINT_BUILD,
        levels=levels(("build", None), ("execution", 2)),
        stopping=StoppingSpec(runs=3),
    ),
    "levels of the user's": spec_of(
        "echo printed 1",
        levels=levels(("day", None), ("boot", 2), ("execution", 2)),
        stopping=StoppingSpec(runs=2),
    ),
    "levels, one after the other": spec_of(
        "echo printed 1",
        order="sequential",
        levels=levels(("boot", None), ("execution", 3)),
        stopping=StoppingSpec(runs=2),
    ),
    "failures": spec_of("exit 3"),
}
# It takes a CPU for each variant.
if len(os.sched_getaffinity(0)) > 1:
    PLANS["all at once"] = spec_of("echo printed 3", order="parallel")
