"""Looks that keep to one period for a round: intervals of known shares, by simulation."""

import numpy as np
import pytest

from steelyard.analysis.profiles.profile_samples import share_estimate
from steelyard.analysis.profiles.rounds_of_looks import Rounds

PERIOD_US, ROUND, LONG_US = 100.0, 64, 4e5
RUNS = 60


def looks(draws, spread, long_us=LONG_US):
    """The times of looks in a run, in microseconds."""
    if spread == "fixed":
        return np.arange(draws.uniform(0, PERIOD_US), LONG_US, PERIOD_US)
    found, now = [], 0.0
    while now < long_us:
        period = PERIOD_US * draws.uniform(0.5, 1.5)
        found.append(now + period * np.arange(1, ROUND + 1))
        now += period * ROUND + draws.uniform(1, 20)
    times = np.concatenate(found)
    return times[times < long_us]


def coverage(spread, cycle_us, share=0.3):
    """How many of the intervals of 95 % hold the share of a function that runs each cycle."""
    covered, widths = 0, []
    for seed in range(RUNS):
        draws = np.random.default_rng(seed)
        times = looks(draws, spread)
        at = np.flatnonzero((times + draws.uniform(0, cycle_us)) % cycle_us < share * cycle_us)
        times_ns = np.round(1e3 * times).astype(np.uint64)
        cpus = np.zeros(len(times), np.uint16)
        rounds = Rounds.of(times_ns, cpus, 1e3 * PERIOD_US * ROUND, 0.95)
        found = share_estimate(len(at), len(times), 0.95, rounds.worth(at))
        # Behind the last whole cycle the truth is a little off the share.
        slack = cycle_us / LONG_US
        covered += found.low - slack <= share <= found.high + slack
        widths.append(found.high - found.low)
    return covered, float(np.mean(widths))


# Four standard errors below 95 % of 60.
FEWEST = 50


@pytest.mark.parametrize("cycle_us", [33.3, 70.0, 100.0, 1000.0, 6400.0])
def test_intervals_of_looks_by_rounds_hold_for_programs_of_any_cycle(cycle_us):
    covered, _ = coverage("rounds", cycle_us)
    assert covered >= FEWEST


def test_a_fixed_period_misses_a_program_of_the_same_cycle_that_rounds_find():
    assert coverage("fixed", PERIOD_US)[0] < RUNS / 4
    covered, width = coverage("rounds", PERIOD_US)
    assert covered >= FEWEST
    assert width < 0.08


def test_what_a_program_does_for_longer_than_a_window_makes_no_interval_wide():
    long_us = 20 * LONG_US
    times = looks(np.random.default_rng(1), "rounds", long_us)
    times_ns = np.round(1e3 * times).astype(np.uint64)
    rounds = Rounds.of(times_ns, np.zeros(len(times), np.uint16), 1e3 * PERIOD_US * ROUND, 0.95)
    at = np.flatnonzero(times < long_us / 2)
    found = share_estimate(len(at), len(times), 0.95, rounds.worth(at))
    assert found.high - found.low < 0.05


def test_samples_of_one_window_are_worth_one_look():
    rounds = Rounds(np.zeros(50, np.int64), np.zeros(1, np.int64), 0.95)
    assert rounds.worth(np.arange(20)) == 1.0
