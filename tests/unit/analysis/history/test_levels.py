"""The detector of levels."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.analysis.history.changes import find_changes
from steelyard.analysis.history.detectors import DETECTORS
from steelyard.analysis.history.level_changes import level_changes
from steelyard.analysis.history.noise_scale import (
    medians_of_five,
    noise_scale,
    without_spikes,
)
from steelyard.analysis.history.series import series_of_values
from steelyard.core.rng import derive_seed
from tests.unit.analysis.history.made_tracks import opposite_jumps, settled_step


def found(values):
    return [c.index for c in find_changes(series_of_values(values), DETECTORS.get("levels"))]


def noise(name, count, deviation=1.0):
    return np.random.default_rng(derive_seed(1, name)).normal(0.0, deviation, count)


def remembering(name, count, memory=0.6):
    values = noise(name, count + 100)
    for at in range(1, len(values)):
        values[at] = memory * values[at - 1] + (1 - memory**2) ** 0.5 * values[at]
    return values[100:]


def test_a_step_is_reported_once_where_it_begins():
    values, at = settled_step()
    assert found(values) == [at]


@pytest.mark.parametrize("size", [1.5, 3.0, 5.0])
def test_steps_are_found_the_smaller_the_later(size):
    hits = 0
    for number in range(50):
        values = 100.0 + noise(f"step {number}", 120)
        values[80:] += size
        hits += any(abs(place - 80) <= 5 for place in found(values))
    assert hits >= (45 if size < 3 else 50)


def test_a_deterministic_metric_that_steps_by_a_ten_thousandth_is_reported():
    values = np.full(60, 1_000_000.0)
    values[30:] *= 1.0001
    assert found(values) == [30]


def test_a_level_that_comes_back_has_two_changes():
    values = 100.0 + noise("back", 200)
    values[90:110] += 6.0
    assert found(values) == [90, 110]


def kinds(values):
    changes = find_changes(series_of_values(values), DETECTORS.get("levels"))
    return [(c.kind, c.index, c.last_index) for c in changes]


@pytest.mark.parametrize("length", [1, 2, 4])
def test_a_spike_is_told_as_one_and_is_no_level(length):
    values = 100.0 + noise("spike", 200)
    values[50 : 50 + length] += 60.0
    assert kinds(values) == [("spike", 50, 49 + length)]


def test_a_big_jump_that_is_followed_by_as_big_a_jump_back_is_found():
    values, at = opposite_jumps()
    assert kinds(values) == [("spike", at, at + 1)]


def test_a_spike_beside_a_step_is_told_of_too():
    values = 100.0 + noise("both", 200)
    values[100:] += 20.0
    values[150] -= 60.0
    assert kinds(values) == [("step", 100, 100), ("spike", 150, 150)]


def test_far_values_of_a_track_with_a_long_tail_are_seldom_spikes():
    generator = np.random.default_rng(derive_seed(1, "tails"))
    total = sum(len(kinds(100.0 + generator.standard_t(3, 300))) for _ in range(50))
    assert total <= 5


def test_four_values_on_another_level_are_a_spike_and_no_two_steps():
    told = []
    for number in range(40):
        values = 100.0 + noise(f"taken back {number}", 160)
        values[80:84] += 5.0
        told.append([kind for kind, _, _ in kinds(values)])
    assert told.count(["spike"]) >= 36


def test_a_level_of_seven_values_is_two_steps():
    values = 100.0 + noise("a short level", 160)
    values[80:87] += 12.0
    assert kinds(values) == [("step", 80, 80), ("step", 87, 87)]


def test_neighbours_that_are_far_to_the_side_of_a_long_tail_are_seldom_a_spike():
    generator = np.random.default_rng(derive_seed(1, "one tail"))
    tracks = [100.0 + np.exp(generator.normal(size=300)) for _ in range(300)]
    runs = [
        last > first for track in tracks for kind, first, last in kinds(track) if kind == "spike"
    ]
    assert sum(runs) <= 5


def test_one_other_value_of_a_deterministic_metric_is_a_spike():
    values = np.full(40, 1_000_000.0)
    values[20] += 100.0
    assert kinds(values) == [("spike", 20, 20)]


def test_memory_of_a_track_is_not_taken_for_changes():
    total = sum(len(found(100.0 + remembering(f"memory {n}", 300))) for n in range(40))
    assert total <= 3
    plain = sum(len(found(100.0 + noise(f"plain {n}", 300))) for n in range(40))
    assert plain <= 3


def test_a_step_in_a_track_that_remembers_is_found():
    values = remembering("stepping", 400)
    values[200:] += 5.0
    (place,) = found(values)
    assert abs(place - 200) <= 3


def test_the_noise_is_that_of_the_values_around_their_levels():
    values = noise("scale", 2000, 3.0)
    values[1000:] += 50.0
    sums = np.concatenate([[0.0], np.cumsum(values)])
    scale = noise_scale(values, sums)
    assert scale.deviation == pytest.approx(3.0, rel=0.1)
    assert scale.memory < 0.1
    kept = remembering("scale", 4000)
    scale = noise_scale(kept, np.concatenate([[0.0], np.cumsum(kept)]))
    assert scale.memory == pytest.approx(0.6, abs=0.1)


def test_the_variance_of_means_grows_as_an_autoregression_says():
    kept = remembering("means", 4000)
    scale = noise_scale(kept, np.concatenate([[0.0], np.cumsum(kept)]))
    memory, count = scale.memory, 10
    lags = memory ** np.abs(np.subtract.outer(np.arange(count), np.arange(count)))
    assert scale.mean_factor(np.array([float(count)]))[0] == pytest.approx(lags.sum() / count)


def test_medians_of_five_are_numpys():
    values = noise("medians", 50)
    windows = np.lib.stride_tricks.sliding_window_view(values, 5)
    np.testing.assert_array_equal(medians_of_five(values)[2:-2], np.median(windows, axis=1))
    assert abs(without_spikes(np.array([1.0, 1.1, 0.9, 50.0, 1.0, 1.05, 0.95, 1.0]))[3]) < 3.0


@pytest.mark.parametrize("count", [8, 9, 12, 29, 31, 59, 61])
def test_tracks_of_any_length_are_taken(count):
    values = 100.0 + noise(f"short {count}", count)
    assert level_changes(without_spikes(values), 1e-4).places == ()
    values[count // 2 :] += 100.0
    assert level_changes(without_spikes(values), 1e-4).places == (count // 2,)
