"""The least distance at which the taut string has one mode is the dip of R's diptest."""

import json
from pathlib import Path

import pytest

from steelyard.analysis.distributions.modes import _valleys, critical_distance

R = json.loads((Path(__file__).parent / "dip.json").read_text())


@pytest.mark.parametrize("case", R["cases"], ids=lambda c: f"{len(c['values'])} {c['name']}")
def test_a_second_mode_goes_at_the_dip(case):
    values, dip = sorted(case["values"]), case["dip"]
    assert _valleys(values, dip + 1e-4) == []
    # A dip is at least 1 / 2n: below it no line runs through the tube.
    if dip > 0.5 / len(values) + 1e-4:
        assert len(_valleys(values, dip - 1e-4)) >= 1


@pytest.mark.parametrize("count", R["critical"])
def test_the_critical_distance_is_that_of_hartigans_table(count):
    assert critical_distance(int(count)) == pytest.approx(R["critical"][count], abs=2e-5)
    assert critical_distance(int(count) + 1) < critical_distance(int(count))
