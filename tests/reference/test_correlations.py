"""Correlations against R (correlations.R)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from steelyard.analysis.events.correlation import pearson, spearman

R = json.loads((Path(__file__).parent / "correlations.json").read_text())
X, Y = np.array(R["x"], dtype=np.float64), np.array(R["y"])


def test_pearsons_coefficient_its_interval_and_p_are_those_of_r() -> None:
    found = pearson(X, Y, 0.95)
    assert found.p == pytest.approx(R["p"], abs=1e-9)
    assert found.coefficient.estimate == pytest.approx(R["r"], abs=1e-9)
    assert found.coefficient.low == pytest.approx(R["low"], abs=1e-9)
    assert found.coefficient.high == pytest.approx(R["high"], abs=1e-9)


def test_spearmans_coefficient_with_ties_and_its_p_are_those_of_r() -> None:
    found = spearman(X, Y, 0.95)
    assert len(set(R["x"])) < len(R["x"])
    assert found.coefficient.estimate == pytest.approx(R["rho"], abs=1e-9)
    assert found.p == pytest.approx(R["rank_p"], abs=1e-9)


def test_perfect_order_of_few_runs_is_as_likely_as_enumeration_says() -> None:
    six = np.arange(6.0)
    for other in (six, six[::-1]):
        assert spearman(six, other, 0.95).p == pytest.approx(R["perfect_p"], abs=1e-9)
