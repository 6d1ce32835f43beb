from collections import Counter
from dataclasses import replace

import pytest

from steelyard.core.experiment_spec import ExperimentSpec, LaunchSpec, MetricSpec, Variant
from steelyard.core.repetition import RepetitionLevel
from steelyard.core.stopping_spec import StoppingSpec
from steelyard.design.level_positions import Unit, plan_levelled_block, unit_of
from steelyard.design.schedule import Schedule

METRICS = (MetricSpec("wall_time", "s"),)


def spec_of(*levels, variants=2, **changes):
    return ExperimentSpec(
        "id",
        "comparison",
        tuple(Variant(f"v{i}", LaunchSpec(("p",))) for i in range(variants)),
        METRICS,
        seed=5,
        levels=tuple(RepetitionLevel(*level) for level in levels),
        **changes,
    )


BUILDS = spec_of(("build", None), ("execution", 3))
ALL = spec_of(("machine", None), ("reboot", 2), ("build", 3), ("execution", 4))


def test_a_block_has_every_variant_as_often_as_the_counts_say():
    trials = plan_levelled_block(ALL, 5, (0, 1))
    assert ALL.trials_of_variant == 24
    assert Counter(t.variant for t in trials) == {0: 24, 1: 24}
    assert {t.block for t in trials} == {5}
    assert Counter((t.variant, t.build) for t in trials) == {
        (v, b): 4 for v in (0, 1) for b in range(30, 36)
    }


def test_positions_follow_each_other_through_the_blocks():
    positions = [t.position for b in range(4) for t in plan_levelled_block(ALL, b, (0, 1))]
    assert positions == list(range(4 * 48))


def test_within_a_build_each_pass_runs_every_variant_in_an_order_of_its_own():
    spec = spec_of(("build", None), ("execution", 40), variants=3)
    order = [t.variant for t in plan_levelled_block(spec, 0, (0, 1, 2))]
    passes = {tuple(order[i : i + 3]) for i in range(0, len(order), 3)}
    assert all(sorted(item) == [0, 1, 2] for item in passes)
    assert len(passes) == 6


@pytest.mark.parametrize(
    ("position", "unit"),
    [
        (0, Unit((0, 0), 0)),
        (7, Unit((0, 0), 0)),
        (8, Unit((0, 0), 1)),
        (24, Unit((0, 1), 3)),
        (47, Unit((0, 1), 5)),
        (48, Unit((1, 2), 6)),
        (-3, Unit((0, 0), 0)),
    ],
)
def test_a_position_tells_the_repetition_of_each_level(position, unit):
    assert unit_of(ALL, position) == unit


def test_the_plan_and_the_positions_agree_on_builds():
    for spec in (ALL, BUILDS, spec_of(("session", None), ("execution", 2))):
        for block in range(3):
            for trial in plan_levelled_block(spec, block, (0, 1)):
                assert unit_of(spec, trial.position).build == trial.build


def test_the_sequential_order_gives_each_variant_positions_of_its_own():
    spec = replace(BUILDS, order="sequential")
    seen = [t for v in (0, 1) for b in range(3) for t in plan_levelled_block(spec, b, (v,))]
    assert sorted(t.position for t in seen) == list(range(18))
    assert all(unit_of(spec, t.position).build == t.build == t.block for t in seen)


def test_without_levels_there_is_one_unit():
    assert unit_of(spec_of(), 17) == Unit((), 0)


def test_a_schedule_leaves_out_what_is_done_within_a_block():
    spec = replace(BUILDS, stopping=StoppingSpec(runs=2))
    schedule = Schedule(spec, (0, 1), {0, 1, 2, 3})
    assert [t.position for t in schedule.next_block()] == [4, 5]
    assert [t.build for t in schedule.next_block()] == [1] * 6
    assert schedule.next_block() == []
