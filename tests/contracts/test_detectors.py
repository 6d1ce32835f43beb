"""What every detector of changes along revisions must keep."""

import numpy as np
import pytest

from steelyard.analysis.history.changes import find_changes
from steelyard.analysis.history.detector import Sensitivity
from steelyard.analysis.history.detectors import DETECTORS
from steelyard.analysis.history.series import series_of_values
from steelyard.core.errors import AnalysisError

detectors = pytest.mark.parametrize("detector", list(DETECTORS), ids=lambda d: d.name)


def normal(count, seed=1, level=100.0):
    return level + np.random.default_rng(seed).normal(size=count)


def example(kind, size=8.0):
    """400 values with one change of the kind at 200, plain enough for anyone."""
    values = normal(400)
    rise = {
        "step": np.where(np.arange(400) >= 200, size, 0.0),
        "spike": np.where((np.arange(400) >= 200) & (np.arange(400) < 202), 2 * size, 0.0),
        "creep": np.clip((np.arange(400) - 150) / 100, 0.0, 1.0) * size,
        "noise": 0.0,
    }[kind]
    if kind == "noise":
        values[200:] = 100 + (values[200:] - 100) * size
    return values + rise


@detectors
def test_it_says_what_it_is_in_one_sentence(detector):
    assert detector.description.endswith(".")
    assert detector.kinds
    assert detector.shortest_segment >= 1


@detectors
@pytest.mark.parametrize("count", [0, 1, 2, 3, 5, 11, 36])
def test_short_series_of_one_value_have_no_changes(detector, count):
    assert find_changes(series_of_values([5.0] * count), detector) == ()


@detectors
def test_the_same_series_has_the_same_changes(detector):
    series = series_of_values(example("step"))
    assert find_changes(series, detector) == find_changes(series, detector)


@detectors
def test_every_kind_that_it_names_is_found_where_it_is(detector):
    for kind in detector.kinds:
        found = find_changes(series_of_values(example(kind)), detector)
        near = [c for c in found if c.kind == kind and 140 <= c.index <= 260]
        assert near, (kind, [(c.kind, c.index) for c in found])
        if kind in ("step", "spike"):
            assert min(abs(c.index - 200) for c in near) <= 2


@detectors
def test_it_names_no_kind_that_it_does_not_declare(detector):
    for kind in ("step", "spike", "creep", "noise"):
        found = find_changes(series_of_values(example(kind)), detector)
        assert {change.kind for change in found} <= set(detector.kinds)


@detectors
def test_changes_lie_within_the_series_in_order_with_their_revisions(detector):
    revisions = [f"r{index}" for index in range(400)]
    found = find_changes(series_of_values(example("step"), revisions=revisions), detector)
    assert [change.index for change in found] == sorted(change.index for change in found)
    for change in found:
        assert 0 <= change.earliest_index <= change.index <= change.latest_index < 400
        assert change.index <= change.last_index < 400
        assert change.revision == f"r{change.index}"
        assert 0 < change.p_value <= 1
        assert change.detector == detector.name


@detectors
@pytest.mark.parametrize("factor", [1e-9, 1e12])
def test_the_unit_of_the_values_changes_nothing(detector, factor):
    plain = find_changes(series_of_values(example("step")), detector)
    scaled = find_changes(series_of_values(example("step") * factor), detector)
    assert [(c.kind, c.index) for c in plain] == [(c.kind, c.index) for c in scaled]


@detectors
def test_stationary_values_have_few_changes(detector):
    found = find_changes(series_of_values(normal(3000, seed=5)), detector, Sensitivity(1e-5))
    assert len(found) <= 6


@detectors
def test_a_value_that_jumps_between_two_has_finite_answers(detector):
    values = np.where(np.arange(300) % 2, 10.0, 20.0)
    for change in find_changes(series_of_values(values), detector):
        assert np.isfinite(change.p_value)


@pytest.mark.parametrize(
    "detector", [one for one in DETECTORS if "step" in one.kinds], ids=lambda one: one.name
)
def test_a_step_of_a_deterministic_metric_is_found(detector):
    values = np.full(200, 1e10)
    values[100:] *= 1.0001
    found = [c.index for c in find_changes(series_of_values(values), detector)]
    assert min(abs(index - 100) for index in found) <= 5


STRANGE = {
    "all the same": np.full(60, -5.0),
    "zeros": np.zeros(60),
    "two values": np.where(np.arange(60) % 2, 1.0, 2.0),
    "few counts": np.random.default_rng(2).integers(0, 3, 54).astype(float),
    "in order": np.sort(normal(80)),
    "a random walk": np.cumsum(normal(90) - 100.0),
    "far tails": np.random.default_rng(4).standard_cauchy(90),
    "the largest": 1e60 * np.random.default_rng(6).uniform(-1.0, 1.0, 82),
    "the smallest": 1e-60 * (1.0 + np.random.default_rng(7).random(82)),
    "many magnitudes": np.exp(20.0 * np.random.default_rng(8).normal(size=70)),
}


@detectors
@pytest.mark.parametrize("values", STRANGE.values(), ids=STRANGE.keys())
def test_strange_values_have_changes_within_the_series_or_none(detector, values):
    for rate in (1e-9, 1e-4, 0.1):
        for change in find_changes(series_of_values(values), detector, Sensitivity(rate)):
            assert 0 <= change.index <= change.last_index < len(values)
            assert 0.0 < change.p_value <= 1.0


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e61, -1e300, 1e-61])
def test_values_that_nothing_can_be_reckoned_from_are_refused_by_revision(value):
    values = [1.0, 2.0, value, 3.0]
    with pytest.raises(AnalysisError, match="revision '2'"):
        series_of_values(values)
