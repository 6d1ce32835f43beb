"""Every analysis of trials takes the columns that say where a service ran them."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from steelyard.analysis.methods import ANALYSES
from steelyard.analysis.tables.analysis_method import Question
from steelyard.app.results.named_analysis import analyze_experiment, chosen_method
from steelyard.core.errors import AnalysisError
from steelyard.core.experiment_spec import LaunchSpec, MetricSpec, Variant
from steelyard.core.placement_spec import PlacedWorker, PlacementSpec
from tests.experiments import make_experiment, make_trial

METRIC = "wall_time"
# How those ask that take less than any number of factors, or need options; `place` is the column.
ASKED = {
    "bias": (("flags",), {"setup": "{place}"}),
    "cause": (("flags", "aslr"), {"block": "{place}"}),
    "groups": (("{place}",), {}),
    "map": (("flags", "{place}"), {}),
    "mixed": (("flags",), {"levels": "{place}"}),
    "noise": (("{place}",), {}),
    "paired": (("flags",), {"block": "{place}"}),
    "programs": (("flags", "aslr"), {"program": "{place}"}),
    "within": (("flags", "aslr"), {"subject": "{place}"}),
}
BLOCKS = 24


@pytest.fixture(scope="module")
def experiment():
    """Four variants on four workers of two platforms."""
    rng = random.Random(3)
    variants = tuple(
        Variant(f"v{a}{b}", LaunchSpec(("true",)), parameters=(("flags", a), ("aslr", b)))
        for a in "01"
        for b in "01"
    )
    workers = [PlacedWorker(f"w{n}", (("platform", f"p{n // 2}"),)) for n in range(4)]
    placement = PlacementSpec(tuple(workers), tuple(block % 4 for block in range(BLOCKS)))
    trials = tuple(
        make_trial(
            4 * block + variant,
            block=block,
            variant=variant,
            measurements={METRIC: (1 + 0.1 * variant + 0.3 * (block % 4) + rng.random() / 20,)},
        )
        for block in range(BLOCKS)
        for variant in range(4)
    )
    made = make_experiment(blocks=BLOCKS, trials=trials)
    metrics = (MetricSpec(METRIC, "s"),)
    spec = replace(made.spec, variants=variants, placement=placement, metrics=metrics)
    return replace(made, spec=spec)


@pytest.mark.parametrize("place", ["worker", "platform"])
@pytest.mark.parametrize(
    "name", [each.name for each in ANALYSES if each.reads == "trials" and each.name != "screening"]
)
def test_an_analysis_takes_where_trials_ran(experiment, name, place) -> None:
    factors, options = ASKED.get(name, (("flags", "aslr", "{place}"), {}))
    question = Question(
        response=METRIC,
        factors=tuple(each.format(place=place) for each in factors),
        extra={key: value.format(place=place) for key, value in options.items()},
    )
    found = analyze_experiment(experiment, (None, None), chosen_method(name, question), question)
    assert found.result is not None


def test_a_platform_is_no_intervention_within_blocks(experiment) -> None:
    question = Question(response=METRIC, factors=("flags", "platform"))
    with pytest.raises(AnalysisError, match="No block has every level of 'flags'"):
        analyze_experiment(experiment, (None, None), chosen_method("cause", question), question)
