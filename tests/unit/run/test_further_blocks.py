"""Further blocks of an experiment that is run some blocks at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.core.experiment_results import Trial
from steelyard.core.experiment_spec import ExperimentSpec, LaunchSpec, MetricSpec, Variant
from steelyard.core.stopping_spec import StoppingSpec
from steelyard.run.further_blocks import further_blocks, whole_rounds

SPEC = ExperimentSpec(
    identifier="01M85SC0VHQM52GC8EDA4C9YQW",
    kind="comparison",
    variants=tuple(Variant(name=name, launch=LaunchSpec(argv=("true",))) for name in "ab"),
    metrics=(MetricSpec("wall_time", "s"),),
    seed=1,
    stopping=StoppingSpec(precision_ratio=0.02),
)


def trials(blocks: int, spread: float, seed: int = 3, **fields) -> list[Trial]:
    """Times that vary by `spread`, of two variants that are alike."""
    generator = np.random.default_rng(seed)
    return [
        Trial(
            position=2 * block + variant,
            block=block,
            variant=variant,
            warmup=False,
            status=fields.get("status", "ok"),
            reason=fields.get("reason"),
            started_unix_s=float(block),
            spent_s=1.0,
            measurements=fields.get(
                "measurements", {"wall_time": (float(1 + spread * generator.normal()),)}
            ),
        )
        for block in range(blocks)
        for variant in (0, 1)
    ]


def test_it_ends_as_soon_as_it_is_precise() -> None:
    found = further_blocks(SPEC, trials(10, 0.001), 10, 1000)
    assert (found.stopped, found.block_count) == ("precision", 10)


def test_it_asks_for_as_many_blocks_as_are_likely_to_do_and_not_for_too_many_at_once() -> None:
    found = further_blocks(SPEC, trials(10, 0.03), 10, 1000)
    assert found.stopped is None
    assert 10 < found.block_count <= 20
    assert further_blocks(SPEC, trials(10, 0.5), 10, 1000).block_count == 20


@pytest.mark.parametrize(
    ("stopping", "most"),
    [
        (SPEC.stopping, 10),
        (replace(SPEC.stopping, budget_runs=21), 1000),
        (replace(SPEC.stopping, budget_s=20.0), 1000),
    ],
)
def test_a_budget_that_is_spent_ends_it(stopping, most) -> None:
    found = further_blocks(replace(SPEC, stopping=stopping), trials(10, 0.5), 10, most)
    assert found.stopped == "budget"


def test_a_budget_limits_the_next_blocks() -> None:
    spec = replace(SPEC, stopping=replace(SPEC.stopping, budget_runs=26))
    assert further_blocks(spec, trials(10, 0.5), 10, 1000).block_count == 13
    spec = replace(SPEC, stopping=replace(SPEC.stopping, budget_s=28.0))
    assert further_blocks(spec, trials(10, 0.5), 10, 1000).block_count == 14


def test_what_always_fails_is_not_repeated() -> None:
    failed = trials(10, 0.0, status="failed", reason="exit", measurements={})
    assert further_blocks(SPEC, failed, 10, 1000).stopped == "failures"


def test_blocks_that_were_given_up_count_as_run_and_give_no_value() -> None:
    assert further_blocks(SPEC, [], 10, 1000).block_count == 20
    assert further_blocks(SPEC, [], 1000, 1000).stopped == "budget"


def test_each_worker_gets_as_many_blocks() -> None:
    assert [whole_rounds(count, 3) for count in (1, 3, 4, 12)] == [3, 3, 6, 12]
