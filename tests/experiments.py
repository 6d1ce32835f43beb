"""Experiments for tests that need stored ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from steelyard.core.experiment_results import Experiment, Trial
from steelyard.core.experiment_spec import ExperimentSpec, LaunchSpec, MetricSpec, Variant
from steelyard.core.identifier import encode_ulid
from steelyard.core.stopping_spec import StoppingSpec

METRICS = (MetricSpec("wall_time", "s"), MetricSpec("max_rss", "bytes"))


def identifier(number: int) -> str:
    """The identifier of the `number`-th experiment of a test."""
    return encode_ulid(1_700_000_000_000 + number, number.to_bytes(10, "big"))


def make_trial(position: int, **changes: Any) -> Trial:
    """A trial of a comparison of two variants that succeeded."""
    block, variant = divmod(position, 2)
    trial = Trial(
        position=position,
        block=block,
        variant=variant,
        warmup=False,
        status="ok",
        reason=None,
        started_unix_s=1_700_000_000.25 + position,
        spent_s=0.125,
        measurements={
            "wall_time": (0.1 + 0.01 * variant + 0.001 * block,),
            "max_rss": (2048.0 * (position + 1),),
        },
        realised={"cpus": "0-1", "aslr": True},
        details={"exit_code": 0},
    )
    return replace(trial, **changes)


def failed_trial(position: int, **changes: Any) -> Trial:
    """A trial that ended with exit code 3."""
    known: dict[str, Any] = {
        "status": "failed",
        "reason": "exit",
        "measurements": {},
        "details": {"exit_code": 3, "stderr_tail": "no such thing\n"},
    }
    return make_trial(position, **{**known, **changes})


def make_experiment(number: int = 1, blocks: int = 3, **changes: Any) -> Experiment:
    """A comparison of two variants, of which the second one's command is not UTF-8."""
    spec = ExperimentSpec(
        identifier=identifier(number),
        kind="comparison",
        variants=(
            Variant("old", LaunchSpec(("sleep", "0.1"), environment=(("LANG", None),))),
            Variant(
                "new",
                LaunchSpec(("sleep", "\udcff"), timeout_s=5.0, cpus=(0, 1)),
                prepare=("true",),
                parameters=(("size", "10"),),
            ),
        ),
        metrics=METRICS,
        seed=7,
        stopping=StoppingSpec(runs=blocks),
    )
    experiment = Experiment(
        spec=spec,
        provenance={"host": {"kernel": "6.1", "cpus": [0, 1]}},
        created_unix_s=1_700_000_000.0 + number,
        trials=tuple(make_trial(position) for position in range(2 * blocks)),
        stopped="runs",
    )
    return replace(experiment, **changes)
