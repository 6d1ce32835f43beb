"""How plain late changes are, values that wander, and how sure a class is."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from steelyard.analysis.states.change_points import (
    PENALTY_FACTOR,
    PENALTY_FACTORS,
    ChangePath,
    change_path,
    change_penalty,
    change_points,
)
from steelyard.analysis.states.execution import Rules, execution_state
from steelyard.analysis.states.segment_cost import SegmentCost
from steelyard.analysis.states.steadiness import Unsteadiness, unsteadiness
from steelyard.analysis.states.wandering import wandering
from tests.unit.analysis.made_series import noise, remembering

FLOOR = 0.001


def changes_of(values, penalty=None):
    cost = SegmentCost(values, FLOOR)
    return change_points(cost, change_penalty(len(values)) if penalty is None else penalty)


@pytest.mark.parametrize("seed", range(4))
def test_the_path_of_change_points_has_at_each_penalty_those_of_that_penalty(seed):
    generator = np.random.default_rng(seed)
    pieces = [
        generator.normal(generator.uniform(1, 1.3), generator.uniform(0.01, 0.1), length)
        for length in generator.integers(5, 80, 5)
    ]
    values = np.concatenate(pieces)
    path = change_path(SegmentCost(values, FLOOR))
    assert path.usual == changes_of(values)
    for factor, changes in zip(PENALTY_FACTORS, path.changes, strict=True):
        assert changes == changes_of(values, factor * log(len(values)))


def test_a_change_that_falls_between_two_allowed_places_is_one_change():
    for at in range(1000, 1008):
        assert changes_of(np.concatenate([noise(at) + 1, noise(3000 - at, 2)])) == (at,)


def path_with(counts):
    return ChangePath(tuple(tuple(range(1, count + 1)) for count in counts))


def test_the_knee_is_where_few_changes_are_lost_for_much_penalty():
    # From 3.75 to 1,920 (scaled 0 to 1): at 42.4 it is 0.020 + 3/60, less than at 21.2 (4/60) and
    # at 120 (0.061 + 2/60).
    counts = [60, 40, 25, 12, 6, 4, 4, 3, 3, 3, 2, 2, 2, 2, *[1] * 4, *[0] * 7]
    assert path_with(counts).knee == pytest.approx(PENALTY_FACTOR * 2**1.5)


def test_a_few_changes_have_no_knee():
    counts = [2] * 8 + [1] * 4 + [0] * 13
    assert path_with(counts).knee == PENALTY_FACTOR


def asked(values, doubt=0.0):
    places = np.arange(len(values))
    path = change_path(SegmentCost(values, FLOOR))
    return unsteadiness(values, places, path, 0.05, doubt)


def test_the_plainer_a_late_change_the_more_probable_it_is_that_the_end_is_not_steady():
    found = []
    for jump in (0.0, 0.07, 0.1, 0.2, 0.4):
        values = noise(3000, 3)
        values[2600:] += jump
        found.append(asked(values).probability)
    assert found == sorted(found)
    assert found[0] < 0.05
    assert found[-1] > 0.9


def test_a_change_before_the_last_sixth_or_within_the_tolerance_does_not_count():
    early, small = noise(3000, 3), noise(3000, 4)
    early[:2400] += 0.4
    small[2600:] += 0.04
    assert asked(early).strength < PENALTY_FACTORS[0]
    assert asked(small).strength < PENALTY_FACTORS[0]


def test_what_redraws_doubt_is_less_probably_steady():
    assert Unsteadiness(15.0, 15.0, 1.0).probability > Unsteadiness(15.0, 15.0, 0.0).probability
    assert Unsteadiness(30.0, 15.0, 0.5).probability > Unsteadiness(15.0, 15.0, 0.5).probability
    assert Unsteadiness(15.0, 30.0, 0.5).probability < Unsteadiness(15.0, 15.0, 0.5).probability


def walking(count, step, seed):
    return np.maximum(0.05, 1 + np.random.default_rng(seed).normal(0, step, count).cumsum())


@pytest.mark.parametrize(("count", "step"), [(100, 0.02), (300, 0.01), (3000, 0.002)])
def test_a_random_walk_is_refused_and_not_classed(count, step):
    found = [execution_state("1", walking(count, step, seed), Rules()) for seed in range(20)]
    refused = [one.refusal.code for one in found if one.refusal is not None]
    assert refused.count("wandering") >= 17
    assert len(refused) >= 18


def test_a_memory_that_outlasts_the_levels_is_refused_and_a_shorter_one_is_not():
    def scaled(memory, seed):
        values = remembering(3000, memory, seed) - 1
        return 1 + 0.04 * values / values.std()

    long = [execution_state("1", scaled(0.99, seed), Rules()).refusal for seed in range(10)]
    assert sum(one is not None and one.code == "wandering" for one in long) >= 9
    for memory in (0.5, 0.8):
        short = [execution_state("1", scaled(memory, seed), Rules()) for seed in range(10)]
        assert not any(one.refusal and one.refusal.code == "wandering" for one in short)


def test_a_random_walk_under_noise_is_refused_and_changes_of_level_under_noise_are_not():
    generator = np.random.default_rng(1960)
    refused: list[bool] = []
    for _ in range(12):
        noise = 0.05 * generator.standard_normal(500)
        walk = np.cumsum(0.01 * generator.standard_normal(500))
        found = execution_state("", np.maximum(1 + walk + noise, 0.05), Rules())
        refused.append(found.refusal is not None and found.refusal.code == "wandering")
        stepped = 1 + 0.6 * noise
        stepped[60:120] *= 1.15
        assert execution_state("", stepped, Rules()).state == "warm-up"
    assert sum(refused) >= 8


@pytest.mark.parametrize("memory", [0.0, 0.6])
def test_levels_a_trend_and_a_memory_within_the_tolerance_do_not_wander(memory):
    generator = np.random.default_rng(4)
    for seed in range(10):
        still = remembering(1000, memory, seed)
        stepped = still + np.repeat(generator.uniform(0, 0.5, 4), 250)
        changes = np.array(changes_of(stepped))
        assert wandering(stepped, changes, 0.05) is None
        trend = still + 0.3 * np.arange(1000) / 1000
        assert wandering(trend, np.array(changes_of(trend), dtype=int), 0.05) is None
    small = 1 + 0.01 * (remembering(1000, 0.99, 1) - 1)
    assert wandering(small, np.array([], dtype=int), 0.05) is None


@pytest.mark.parametrize(
    ("count", "fade", "height", "spread"),
    [(500, 80, 0.5, 0.01), (500, 40, 1.0, 0.03), (3000, 300, 1.0, 0.01), (100, 30, 0.5, 0.02)],
)
def test_a_start_up_that_fades_does_not_wander(count, fade, height, spread):
    values = noise(count, 3, spread) + height * np.exp(-np.arange(count) / fade)
    assert execution_state("1", values, Rules()).state == "warm-up"


def test_a_line_without_noise_is_a_drift_and_a_slow_wave_has_no_class():
    assert execution_state("1", np.arange(1.0, 301.0), Rules()).state == "drift"
    wave = noise(1000) + 0.3 * np.sin(np.arange(1000) * 3 * np.pi / 1000)
    refusal = execution_state("1", wave, Rules()).refusal
    assert refusal is not None
    assert refusal.code == "wandering"


def test_a_class_that_hangs_by_the_first_level_says_how_many_redraws_come_to_it():
    values = noise(1000, 2, 0.02)
    values[:40] += 0.055
    found = execution_state("1", values, Rules())
    assert found.state in ("flat", "warm-up")
    assert found.confidence > 0.9
    assert 0.5 <= found.share < 0.95
    assert execution_state("1", noise(1000), Rules()).share == 1.0
