"""Two profiles by their keys."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.analysis.paths.key_comparison import KeyedProfile, compared_keys
from steelyard.analysis.profiles.profile_answer import Recorded, profile_answer
from steelyard.analysis.profiles.profile_samples import COUNTED, Frame, ProfileSamples
from steelyard.core.estimate import Estimate, Unbounded

FAR, NEAR, LIBRARY = (1, 400), (1, 200), "in code that is not the program's"


def profile(keys, every=0):
    count = len(keys)
    numbers = np.zeros(count, np.int64)
    samples = ProfileSamples(
        frames=(Frame("leaf", "/p"),),
        functions=numbers,
        times_ns=np.arange(count, dtype=np.uint64) * np.uint64(1_000_000),
        cpus=np.zeros(count, np.uint16),
        threads=np.ones(count, np.uint32),
        processes=np.ones(count, np.uint32),
        in_kernel=np.zeros(count, bool),
        inlined=np.zeros(count, bool),
        stacks=numbers,
        stack_lengths=np.ones(count, np.int64),
        thread_names={},
        every=every,
    )
    header = {"period": 1e6, "unit": "ns", "spread": "uniform", "event": "cpu-clock"}
    recorded = Recorded("p", header, {}, samples.times_ns, samples.cpus)
    answer = profile_answer(samples, recorded)
    return KeyedProfile(replace(answer, samples=samples), keys)


def by_key(found):
    return {one.key: one for one in found}


def test_a_key_that_takes_more_of_the_time_is_told_without_any_path():
    before = profile([FAR] * 400 + [NEAR] * 600)
    after = profile([FAR] * 600 + [NEAR] * 400)
    found = by_key(compared_keys(before, after))
    assert (found[FAR].verdict, found[NEAR].verdict) == ("more", "less")
    difference = found[FAR].difference
    assert isinstance(difference, Estimate)
    assert difference.estimate == pytest.approx(0.2)
    assert difference.low < 0.2 < difference.high
    assert (found[FAR].first_count, found[FAR].second_count) == (400, 600)


def test_a_key_that_only_one_profile_has_is_compared_with_none():
    found = by_key(compared_keys(profile([NEAR] * 500), profile([NEAR] * 300 + [FAR] * 200)))
    assert found[FAR].first_count == 0
    assert found[FAR].first.estimate == 0.0
    assert found[FAR].verdict == "more"


def test_samples_without_a_key_are_compared_by_their_reason():
    found = by_key(compared_keys(profile([NEAR, LIBRARY] * 300), profile([NEAR] * 600)))
    assert found[LIBRARY].verdict == "less"


def test_the_same_height_in_two_functions_is_two_keys():
    found = compared_keys(profile([(1, 64)] * 9), profile([(2, 64)] * 9))
    assert {one.key for one in found} == {(1, 64), (2, 64)}


def test_counted_events_are_compared_without_an_interval():
    found = by_key(compared_keys(profile([FAR] * 3 + [NEAR], 1), profile([FAR] * 2 + [NEAR], 1)))
    difference = found[FAR].difference
    assert isinstance(difference, Estimate)
    assert difference.method == COUNTED
    assert difference.low == difference.high == difference.estimate == pytest.approx(2 / 3 - 3 / 4)


def test_newcombes_example_has_his_interval():
    """56 of 70 against 48 of 80, method 10: 0.0524 to 0.3339 (Table II)."""
    keys = [FAR] * 48 + [NEAR] * 32
    # Two keys: each interval has half of the error.
    found = by_key(compared_keys(profile(keys), profile([FAR] * 56 + [NEAR] * 14), 0.90))
    difference = found[FAR].difference
    assert isinstance(difference, Estimate)
    assert (difference.low, difference.high) == (
        pytest.approx(0.0524, abs=5e-5),
        pytest.approx(0.3339, abs=5e-5),
    )


def test_where_a_share_has_no_bounds_its_difference_has_none():
    known, cut_off = profile([FAR] * 9), {"scope": "threads"}
    recorded = replace(known.answer.recorded, summary=cut_off)
    blind = KeyedProfile(replace(known.answer, recorded=recorded), known.keys)
    for one, other in ((blind, known), (known, blind)):
        (found,) = compared_keys(one, other)
        assert isinstance(found.difference, Unbounded)
        assert found.verdict == "undecided"


def test_profiles_of_the_same_program_seldom_differ():
    generator = np.random.default_rng(1)
    shares = np.array([0.4, 0.2, 0.1, 0.1, *[0.02] * 10])
    keys = [(number, 64) for number in range(len(shares))]
    alarms = 0
    for _ in range(300):
        drawn = [
            profile([keys[at] for at in generator.choice(len(keys), 400, p=shares)])
            for _ in range(2)
        ]
        alarms += any(one.verdict != "undecided" for one in compared_keys(*drawn))
    # 5 % of 300 and three standard deviations of that.
    assert alarms <= 15 + 3 * 3.8
