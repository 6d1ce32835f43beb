import dataclasses

import pytest

from steelyard.core.estimate import Estimate, Unbounded
from steelyard.core.experiment_results import Caution
from steelyard.core.experiment_spec import ExperimentSpec, LaunchSpec, MetricSpec, Variant


def experiment(*groups):
    launch = LaunchSpec(("true",))
    variants = tuple(Variant(str(i), launch, group=group) for i, group in enumerate(groups))
    return ExperimentSpec("id", "comparison", variants, (MetricSpec("wall_time", "s"),), seed=1)


def test_every_variant_is_compared_with_the_first_of_its_group():
    spec = experiment("1", "2", "1", "2", "1")
    assert spec.groups() == ((0, 2, 4), (1, 3))


def test_without_groups_the_first_is_the_baseline():
    assert experiment("", "", "").groups() == ((0, 1, 2),)


def test_the_first_metric_decides():
    assert experiment("").primary_metric.name == "wall_time"


def test_a_specification_cannot_be_changed_under_a_running_experiment():
    with pytest.raises(dataclasses.FrozenInstanceError):
        experiment("").seed = 2  # pyright: ignore


def test_an_estimate_carries_its_bounds_confidence_and_method_into_json():
    estimate = Estimate(0.945, 0.92, 0.98, 0.95, "fieller-blocks")
    assert estimate.half_width == pytest.approx(0.03)
    assert estimate.as_json() == {
        "estimate": 0.945,
        "low": 0.92,
        "high": 0.98,
        "confidence": 0.95,
        "method": "fieller-blocks",
    }


def test_what_cannot_be_bounded_says_why_instead_of_giving_a_number():
    document = Unbounded(None, 0.95, "student", "one-value", "Two runs are needed.").as_json()
    assert (document["low"], document["high"]) == (None, None)
    assert document["unbounded"] == "one-value"
    assert document["explanation"] == "Two runs are needed."


def test_a_caution_is_a_code_and_a_sentence():
    assert Caution("few-runs", "Only 3.").as_json() == {"code": "few-runs", "message": "Only 3."}
