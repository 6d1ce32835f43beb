"""Best subsets, adjusted R² and Mallows' Cp against R's package leaps (best_subsets.R)."""

import json
from pathlib import Path

import numpy as np
import pytest

from steelyard.predict.subsets.best_subsets import best_subsets
from steelyard.predict.subsets.subset_choice import choose_subset, noise_of

CASES = json.loads(Path(__file__).with_name("best_subsets.json").read_text())["cases"]


@pytest.mark.parametrize("case", CASES)
def test_subsets_of_each_size_and_their_criteria_are_those_of_leaps(case):
    x, y = np.array(case["x"]), np.array(case["y"])
    found = best_subsets(x, y)
    noise = noise_of(found, x.shape[1])
    assert noise is not None
    assert found.exhaustive
    for size, members in enumerate(case["subsets"], start=1):
        subset = found.by_size[size]
        assert list(subset.predictors) == members
        assert subset.residual_sum_squares == pytest.approx(case["rss"][size - 1], rel=1e-8)
    by_cp = choose_subset(found, "mallows-cp", noise)
    assert by_cp.mallows_cp == pytest.approx(min(case["mallows_cp"]), abs=1e-7)
    assert len(by_cp.subset.predictors) == int(np.argmin(case["mallows_cp"])) + 1
    by_r = choose_subset(found, "adjusted-r-squared", noise)
    assert by_r.adjusted_r_squared == pytest.approx(max(case["adjusted_r_squared"]), rel=1e-9)
