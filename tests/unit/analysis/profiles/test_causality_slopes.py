from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from steelyard.analysis.profiles.causality_slopes import (
    Observation,
    Slope,
    causal_slope,
    rest_change,
)
from steelyard.core.estimate import Estimate, Unbounded
from steelyard.report.kinds.causality.document import causality_document
from steelyard.report.kinds.causality.text import verdict_of

# So many a step that time goes with turns.
TURNS = 100


def runs(slope, noise_s=0.01, count=30, seed=2):
    generator = np.random.default_rng(seed)
    steps = np.arange(count) % 6
    program_s = 1 + 0.1 * steps + generator.normal(0, noise_s, count)
    function_s = 0.3 + slope * (program_s - 1) + generator.normal(0, noise_s, count)
    return [
        Observation(TURNS * int(step), float(x), float(y))
        for step, x, y in zip(steps, program_s, function_s, strict=True)
    ]


def test_the_line_of_the_programs_time_is_that_of_scipy():
    observations = runs(0.8, noise_s=0.03)
    amounts = np.array([item.amount / (5 * TURNS) for item in observations])
    program_s = np.array([item.program_s for item in observations])
    sen = stats.theilslopes(program_s, amounts, method="joint")
    shares = np.array([item.function_s for item in observations]) / program_s
    line = sen.intercept + sen.slope * amounts
    wanted = stats.linregress(line, shares * line).slope
    slope = causal_slope(observations)
    assert isinstance(slope, Estimate)
    assert slope.estimate == pytest.approx(wanted, abs=1e-12)


def test_a_machine_that_slows_some_runs_as_a_whole_does_not_bend_the_slope():
    generator = np.random.default_rng(7)
    held, estimates = 0, []
    for _ in range(100):
        observations = []
        for k in range(30):
            time_s = 1 + 0.12 * (k % 6)
            busy = generator.uniform(1.3, 2) if generator.random() < 0.15 else 1.0
            share = generator.binomial(800, (0.3 + 0.12 * (k % 6)) / time_s) / 800
            observations.append(Observation(TURNS * (k % 6), time_s * busy, share * time_s * busy))
        slope = causal_slope(observations)
        assert isinstance(slope, Estimate)
        estimates.append(slope.estimate)
        held += slope.low <= 1 <= slope.high
    assert np.mean(estimates) == pytest.approx(1, abs=0.01)
    assert held >= 90


def blocked_runs(generator, blocked):
    """Runs in blocks of six amounts, each at a speed of its own, and with their noise."""
    observations = []
    for block in range(6):
        speed = generator.uniform(1, 1.6)
        for k in range(6):
            time_s = 1 + 0.12 * k
            took_s = time_s * speed * generator.normal(1, 0.01)
            share = generator.binomial(2000, (0.3 + 0.12 * k) / time_s) / 2000
            turns, of = TURNS * k, block if blocked else 0
            observations.append(Observation(turns, took_s, share * took_s, of))
    return observations


def test_a_machine_of_other_speed_in_each_block_is_seen_through():
    errors = {True: [], False: []}
    held = 0
    for seed in range(30):
        for blocked, found in errors.items():
            slope = causal_slope(blocked_runs(np.random.default_rng(seed), blocked))
            if blocked:
                assert isinstance(slope, Estimate)
                held += slope.low <= 1 <= slope.high
            if isinstance(slope, Estimate):
                found.append(slope.estimate - 1)
    assert np.std(errors[True]) < 0.8 * np.std(errors[False])
    assert len(errors[False]) <= len(errors[True])
    assert abs(np.mean(errors[True])) < 0.01
    assert held >= 26


def test_a_delay_that_begins_at_once_goes_with_its_turns_however_few_they_are():
    few = [replace(item, amount=item.amount // TURNS) for item in runs(0.8, noise_s=0.03)]
    slope = causal_slope(few, begins_at_once=True)
    assert slope == causal_slope(runs(0.8, noise_s=0.03))
    assert slope != causal_slope(few)
    assert rest_change(few, begins_at_once=True) == rest_change(runs(0.8, noise_s=0.03))


def test_a_delay_of_few_turns_is_not_taken_to_go_with_them():
    # To begin takes as long as ten turns, so that one turn is no fifth of five.
    held = 0
    for seed in range(6):
        generator = np.random.default_rng(seed)
        observations = []
        for block in range(5):
            speed = generator.uniform(1, 1.3)
            for turns in range(6):
                delay_s = 0.05 * (10 + turns) if turns else 0.0
                took_s = (1 + delay_s) * speed * generator.normal(1, 0.01)
                share = generator.binomial(2000, (0.2 + delay_s) / (1 + delay_s)) / 2000
                observations.append(Observation(turns, took_s, share * took_s, block))
        slope, rest = causal_slope(observations), rest_change(observations)
        assert isinstance(slope, Estimate)
        assert isinstance(rest, Estimate)
        assert slope.estimate == pytest.approx(1, abs=0.1)
        assert rest.estimate == pytest.approx(0, abs=0.1)
        held += slope.low <= 1 <= slope.high
    assert held >= 4


def test_intervals_hold_as_often_as_they_say():
    held = 0
    for seed in range(150):
        slope = causal_slope(runs(1.0, seed=seed))
        assert isinstance(slope, Estimate)
        held += slope.low <= 1.0 <= slope.high
    assert 0.90 < held / 150 <= 0.99


def test_noise_hides_a_slope_and_none_is_called():
    found = causal_slope(runs(1.0, noise_s=0.3, count=8))
    assert isinstance(found, Unbounded)
    assert found.reason == "noise"


def test_a_delay_of_nothing_has_no_slope_however_tight_the_points_lie():
    # The control without any delay: time attributed is a share of a time that varies by itself.
    generator = np.random.default_rng(3)
    times_s = generator.normal(1, 0.02, 30)
    found = causal_slope([Observation(TURNS * (k % 6), t, 0.3 * t) for k, t in enumerate(times_s)])
    assert isinstance(found, Unbounded)
    assert found.reason == "noise"


def test_the_rest_is_left_alone_or_not():
    untouched = rest_change(runs(1.0))
    assert isinstance(untouched, Estimate)
    assert untouched.low < 0 < untouched.high
    # A fifth of half a second is the rest's: 0.1 s of its 0.7.
    disturbed = rest_change(runs(0.8))
    assert isinstance(disturbed, Estimate)
    assert disturbed.estimate == pytest.approx(0.1 / 0.7, abs=0.02)
    assert disturbed.low > 0


def test_a_program_that_never_slows_down_has_no_slope():
    found = causal_slope([Observation(0, 1.0, 0.3)] * 5)
    assert isinstance(found, Unbounded)
    assert found.reason == "no-change"


def test_too_few_runs_are_told_of_as_that_and_not_as_a_program_that_never_changes():
    found = causal_slope(runs(1.0, count=2))
    assert isinstance(found, Unbounded)
    assert found.reason == "few-runs"
    assert "4 runs" in found.explanation


@pytest.mark.parametrize(
    ("role", "slope", "verdict", "told"),
    [
        ("delayed", 1.0, "right", "actionable"),
        ("delayed", 0.0, "too-little", "wrong: it sees too little"),
        ("delayed", 1.8, "too-much", "wrong: it sees too much"),
        ("control", 0.0, "right", "right to leave it alone"),
        ("control", 0.6, "blames", "wrong: it blames what did not change"),
    ],
)
def test_a_verdict_says_what_the_slope_means(role, slope, verdict, told):
    observations = runs(slope)
    found = causal_slope(observations)
    judged = Slope("f", "p", role, "f", found, 6, 30, tuple(observations))
    assert verdict_of(judged) == told
    (kept,) = causality_document([judged], ["p"], "compute")["slopes"]
    assert kept["verdict"] == judged.verdict == verdict


@pytest.mark.parametrize(
    ("low", "high", "verdict", "told"),
    [
        (0.90, 1.10, "right", "actionable"),
        (0.80, 1.12, "undecided", "not refuted; known to ± 0.16 only"),
        (0.80, 0.949, "too-little", "wrong: it sees too little"),
        (0.80, 0.951, "right", "actionable"),
        (1.051, 1.2, "too-much", "wrong: it sees too much"),
    ],
)
def test_a_verdict_allows_for_five_hundredths_and_wants_an_interval_of_fifteen(
    low, high, verdict, told
):
    found = Estimate((low + high) / 2, low, high, 0.95, "m")
    judged = Slope("f", "p", "delayed", "f", found, 6, 30, ())
    assert (judged.verdict, verdict_of(judged)) == (verdict, told)


def test_a_slope_that_is_not_known_is_undecided_and_says_why():
    found = Unbounded(None, 0.95, "m", "noise", "It is too noisy.")
    judged = Slope("f", "p", "control", "f", found, 6, 30, ())
    assert (judged.verdict, verdict_of(judged)) == ("undecided", "not known: It is too noisy.")
