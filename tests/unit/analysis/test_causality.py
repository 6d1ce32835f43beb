import numpy as np
import pytest

from steelyard.analysis.causality import Observation, Slope, causal_slope
from steelyard.core.estimate import Estimate, Unbounded
from steelyard.report.causality_text import verdict_of


def runs(slope, noise_s=0.01, count=30, seed=2):
    generator = np.random.default_rng(seed)
    amounts = np.arange(count) % 6
    program_s = 1 + 0.1 * amounts + generator.normal(0, noise_s, count)
    function_s = 0.3 + slope * (program_s - 1) + generator.normal(0, noise_s, count)
    return [
        Observation(int(a), float(x), float(y))
        for a, x, y in zip(amounts, program_s, function_s, strict=True)
    ]


# R 4.2.2: confint(lm(y ~ x)) of x = c(1, 1.1, 1.2, 1.4), y = c(0.3, 0.42, 0.49, 0.72).
def test_the_interval_is_that_of_r():
    points = zip((1, 1.1, 1.2, 1.4), (0.3, 0.42, 0.49, 0.72), strict=True)
    slope = causal_slope([Observation(0, x, y) for x, y in points])
    assert isinstance(slope, Estimate)
    assert slope.estimate == pytest.approx(1.031428571428571, abs=1e-12)
    assert (slope.low, slope.high) == pytest.approx(
        (0.781901965734428, 1.280955177122715), abs=1e-9
    )


def test_intervals_hold_as_often_as_they_say():
    held = 0
    for seed in range(400):
        slope = causal_slope(runs(1.0, seed=seed))
        assert isinstance(slope, Estimate)
        held += slope.low <= 1.0 <= slope.high
    # The program's time has noise too, which bends the slope a little towards 0.
    assert 0.90 < held / 400 <= 0.98


def test_noise_hides_a_slope_and_none_is_called():
    found = causal_slope(runs(1.0, noise_s=0.3, count=8))
    assert isinstance(found, Unbounded)
    assert found.reason == "noise"


def test_a_program_that_never_slows_down_has_no_slope():
    found = causal_slope([Observation(0, 1.0, 0.3)] * 5)
    assert isinstance(found, Unbounded)
    assert found.reason == "no-change"


@pytest.mark.parametrize(
    ("role", "slope", "verdict"),
    [
        ("delayed", 1.0, "actionable"),
        ("delayed", 0.0, "wrong: it sees too little"),
        ("delayed", 1.8, "wrong: it sees too much"),
        ("control", 0.0, "right to leave it alone"),
        ("control", 0.6, "wrong: it blames what did not change"),
    ],
)
def test_a_verdict_says_what_the_slope_means(role, slope, verdict):
    observations = runs(slope)
    found = causal_slope(observations)
    assert verdict_of(Slope("f", "p", role, "f", found, 6, 30, tuple(observations))) == verdict
