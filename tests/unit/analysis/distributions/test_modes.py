"""Several modes: found, named, drawn apart, and not made up."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.prove.humps import SITUATIONS, simulate
from steelyard.analysis.comparison.mode_cautions import level_mode_cautions, mode_cautions
from steelyard.analysis.distributions.modes import density_bandwidth, modes_of
from steelyard.analysis.variance.nested_values import nested_values


def lumps(count=200, within=0.05, seed=1, places=(1.0, 1.3), shares=(0.6, 0.4)):
    generator = np.random.default_rng(seed)
    chosen = generator.choice(len(places), count, p=shares)
    return (np.array(places)[chosen] + within * generator.standard_normal(count)).tolist()


def test_two_modes_are_found_where_they_are_with_their_shares():
    first, second = modes_of(lumps())
    assert first.place == pytest.approx(1.0, abs=0.02)
    assert second.place == pytest.approx(1.3, abs=0.02)
    assert first.share + second.share == 1
    assert first.share == pytest.approx(0.6, abs=0.08)
    assert first.high < second.low


def test_the_warning_names_the_modes_in_one_unit():
    (caution,) = mode_cautions("wall_time of A", [v / 1000 for v in lumps(within=0.01)], "s")
    assert caution.code == "several-modes"
    assert "200 values of wall_time of A lie in 2 humps" in caution.message
    assert "% near 1.00 ms, " in caution.message
    assert "% near 1.30 ms." in caution.message


def test_modes_that_lie_near_each_other_are_told_apart_by_their_digits():
    values = lumps(within=1e-6, places=(1.0, 1.00002))
    (caution,) = mode_cautions("time", values, "s")
    assert "near 1.000000 s" in caution.message
    assert "near 1.000020 s" in caution.message


@pytest.mark.parametrize("place", range(len(SITUATIONS)), ids=lambda k: f"{SITUATIONS[k].name}-{k}")
def test_few_simulated_samples_keep_what_is_promised(place):
    """A few of many: `benchmarks.prove.humps` makes thousands."""
    assert list(simulate(place, 40).problems()) == []


@pytest.mark.parametrize(
    ("values", "count"),
    [
        ([1.0] * 60 + [1.3] * 40, 2),
        ([100.0] * 60 + [130.0] * 40, 2),
        # Neighbouring ticks of a clock are one hump.
        ([0.03] * 60 + [0.04] * 40, 1),
        ([3.0] * 20 + [4.0] * 50 + [5.0] * 30, 1),
        ([5.0] * 200, 0),
        ([1.0, 2.0], 0),
        ([1.0] * 99 + [9.0], 1),
    ],
)
def test_values_that_are_alike_are_lumps_and_ticks_are_none(values, count):
    assert len(modes_of(values)) == count


def test_the_order_of_values_does_not_matter_and_many_are_quick():
    values = lumps(30_000)
    assert [round(mode.place, 2) for mode in modes_of(values)] == [1.0, 1.3]
    assert modes_of(values[:200]) == modes_of(values[:200][::-1])


def test_the_bandwidth_keeps_modes_apart_and_is_the_usual_one_of_one_mode():
    narrow = density_bandwidth(lumps(within=0.02))
    assert narrow is not None
    assert narrow < 0.01
    one = np.random.default_rng(2).standard_normal(200)
    usual = 0.9 * min(one.std(ddof=1), np.subtract(*np.quantile(one, (0.75, 0.25))) / 1.34)
    assert density_bandwidth(one.tolist()) == pytest.approx(usual * 200**-0.2, rel=0.05)
    assert density_bandwidth([1.0, 1.0]) is None
    assert density_bandwidth([1.0]) is None


@pytest.mark.parametrize("top", [True, False])
def test_a_level_in_two_humps_is_named_and_the_other_is_not(top):
    generator = np.random.default_rng(3)
    two, one = np.array(lumps(300, 0.02)), generator.normal(0, 0.02, 300)
    values = np.repeat(two[:30], 10) + one if top else np.repeat(5 * one[:30], 10) + two
    labels = [place.ravel() for place in np.indices((30, 10))]
    data = nested_values(("build", "execution"), labels, values)
    (caution,) = level_mode_cautions(data, "time", "s")
    assert f"of time by {'build' if top else 'execution'}" in caution.message
    assert "in 2 humps" in caution.message
