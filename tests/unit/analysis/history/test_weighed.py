"""The detector that is taken unless another is named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.analysis.history.changes import find_changes
from steelyard.analysis.history.detector import Sensitivity
from steelyard.analysis.history.detectors import DETECTORS
from steelyard.analysis.history.series import series_of_values
from steelyard.analysis.history.value_errors import believed_values, credibility
from steelyard.core.rng import derive_seed


def noise(name, count):
    return 100.0 + np.random.default_rng(derive_seed(1, name)).normal(size=count)


def found(values, **sensitivity):
    series = series_of_values(values) if isinstance(values, np.ndarray) else values
    changes = find_changes(series, DETECTORS.get("weighed"), Sensitivity(**sensitivity))
    return [(c.kind, c.index) for c in changes]


def test_a_slow_rise_is_a_creep_and_no_staircase():
    values = noise("rise", 300) + np.clip((np.arange(300) - 120) / 80, 0.0, 1.0) * 6.0
    ((kind, index),) = found(values)
    assert kind == "creep"
    assert abs(index - 120) <= 15


def test_a_louder_stretch_is_a_change_of_noise_and_its_far_values_are_no_spikes():
    values = noise("louder", 300)
    values[150:] = 100.0 + 5.0 * (values[150:] - 100.0)
    assert [kind for kind, _ in found(values)] == ["noise"]


@pytest.mark.parametrize("length", [1, 3])
def test_a_spike_beside_a_creep_is_told_of_too(length):
    values = noise("both", 300) + np.clip((np.arange(300) - 100) / 100, 0.0, 1.0) * 8.0
    values[250 : 250 + length] += 20.0
    assert ("spike", 250) in found(values)
    assert "creep" in [kind for kind, _ in found(values)]


def test_a_step_below_the_noise_is_told_where_it_is_asked_for():
    values = noise("below", 400)
    values[200:] += 0.6
    assert found(values) == []
    ((kind, index),) = found(values, least_deviations=0.0)
    assert kind == "step"
    assert abs(index - 200) <= 12


def test_a_value_that_is_hardly_known_is_no_spike():
    values = noise("unsure", 100)
    values[50] += 20.0
    series = series_of_values(values)
    assert found(series) == [("spike", 50)]
    errors = np.full(100, 0.3)
    errors[50] = 20.0
    unsure = replace(series, standard_errors=errors)
    assert found(unsure) == []
    assert credibility(unsure)[50] == pytest.approx((0.6 / 20.0) ** 2)


def test_values_with_like_errors_or_none_are_taken_as_they_are():
    series = series_of_values(noise("like", 50))
    assert believed_values(series) is series.values
    like = replace(series, standard_errors=np.full(50, 0.5))
    assert believed_values(like) is series.values


def test_small_steps_and_slow_drifts_are_no_changes_of_noise():
    values = noise("hidden", 3000)
    values[1000:1200] += 0.9
    values[2000:] += 0.8 * np.sin(np.arange(1000) / 100.0)
    assert "noise" not in [kind for kind, _ in found(values)]


def test_a_step_between_smaller_ones_is_reported_though_they_are_not():
    reported = 0
    for number in range(20):
        values = noise(f"between {number}", 3000)
        values[1560:] -= 0.4
        values[1633:] += 1.5
        values[1849:] -= 0.9
        reported += any(kind == "step" and abs(at - 1633) <= 3 for kind, at in found(values))
    assert reported >= 15


def test_values_at_the_edge_of_a_short_level_are_no_spike():
    values = 1e9 + np.random.default_rng(0).integers(-3, 4, 60)
    values[40:] *= 1.0001
    assert found(values) == [("step", 40)]
