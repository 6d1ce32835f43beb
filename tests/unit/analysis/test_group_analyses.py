"""Several groups of variants, each compared with a baseline of its own."""

import pytest

from steelyard.analysis.comparison.experiment_answer import answer
from steelyard.analysis.distributions.student import student_quantile
from steelyard.analysis.intervals.mean import two_sided
from steelyard.analysis.intervals.simultaneous import group_confidence
from steelyard.core.experiment_results import Experiment, Trial
from steelyard.core.experiment_spec import ExperimentSpec, LaunchSpec, MetricSpec, Variant
from steelyard.core.rng import derive_seed

LEVEL = {"a": 1.0, "b": 2.0}


def noise(block, rank):
    """Alike in every group, so that their intervals differ by their quantiles alone."""
    return derive_seed(3, block, rank) / 2**63


def experiment(groups, blocks=20):
    variants = tuple(
        Variant(f"v{i}", LaunchSpec(("p",)), group=group) for i, group in enumerate(groups)
    )
    metric = MetricSpec("wall_time", "s")
    spec = ExperimentSpec("id", "comparison", variants, (metric,), seed=1)
    trials = [
        Trial(
            position=block * len(groups) + index,
            block=block,
            variant=index,
            warmup=False,
            status="ok",
            reason=None,
            started_unix_s=0.0,
            spent_s=1.0,
            measurements={
                "wall_time": (LEVEL[group] + 0.01 * noise(block, groups[:index].count(group)),)
            },
        )
        for block in range(blocks)
        for index, group in enumerate(groups)
    ]
    return Experiment(spec, {}, 0.0, tuple(trials), "runs")


def test_each_candidate_is_compared_with_the_baseline_of_its_group():
    pairs = [(c.baseline, c.candidate) for c in answer(experiment("abab")).comparisons]
    assert pairs == [("v0", "v2"), ("v1", "v3")]


def test_ratios_stay_near_one_within_groups_that_differ_by_far():
    assert all(abs(c.ratio.estimate - 1) < 0.01 for c in answer(experiment("abab")).comparisons)


def test_the_intervals_of_two_groups_hold_together():
    several, alone = experiment("abab"), experiment("aa")
    wide = answer(several).comparisons[0]
    narrow = answer(alone).comparisons[0]
    assert wide.simultaneous
    assert not narrow.simultaneous
    assert wide.ratio.method == "fieller-blocks-simultaneous"
    spent = [1 - 0.8 * (1 - group_confidence(0.95, count)) for count in (2, 1)]
    both, one = (student_quantile(two_sided(confidence), 19) for confidence in spent)
    widening = both / one
    assert wide.ratio.half_width == pytest.approx(widening * narrow.ratio.half_width, rel=1e-3)
