"""Means by level and changes in percent against R's, in a table with unlike numbers of rows."""

import json
from pathlib import Path

import pytest

from steelyard.analysis.methods import ANALYSES
from steelyard.core.estimate import Estimate
from tests.unit.analysis.trials_tables import question, table

R = json.loads(Path(__file__).with_suffix(".json").with_stem("level_means").read_text())


@pytest.fixture(scope="module")
def found():
    data = table(**{name: R[name] for name in "abcvy"})
    return ANALYSES.get("anova").analyze(data, question("y", "a,b,c", covariates="v"))


def bounds(interval):
    assert isinstance(interval, Estimate)
    return [interval.estimate, interval.low, interval.high]


@pytest.mark.parametrize("name", R["means"])
def test_the_means_by_level_are_those_of_r(found, name):
    term, _, levels = name.partition("=")
    mean = next(m for m in found.level_means if (m.term, ",".join(m.levels)) == (term, levels))
    assert bounds(mean.mean) == pytest.approx(R["means"][name], rel=1e-9)


@pytest.mark.parametrize("name", R["changes"])
def test_the_changes_are_those_that_a_t_test_of_r_does_not_reject(found, name):
    effect = next(effect for effect in found.effects if effect.term == name)
    assert bounds(effect.change) == pytest.approx(R["changes"][name], rel=1e-6)
