"""Best subsets: against brute force, with limits, with as many predictors as observations."""

from itertools import combinations

import numpy as np
import pytest

from steelyard.predict.least_squares import adjusted_r_squared, fit_linear, mallows_cp
from steelyard.predict.subsets.best_subsets import best_subsets
from steelyard.predict.subsets.stepwise import backward_subsets, forward_subsets
from steelyard.predict.subsets.subset_choice import choose_subset, noise_of


def drawn(observations, predictors, seed=3):
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(observations, predictors)) + draw.normal(size=(observations, 1))
    return x, x[:, 0] - 2 * x[:, 1] + 0.3 * draw.normal(size=observations)


def brute_force(x, y, size):
    subsets = combinations(range(x.shape[1]), size)
    return min(fit_linear(x[:, list(s)], y).residual_sum_squares for s in subsets)


@pytest.mark.parametrize(("observations", "predictors"), [(20, 7), (9, 8), (7, 9), (5, 12)])
def test_no_subset_of_any_size_fits_better(observations, predictors):
    x, y = drawn(observations, predictors)
    found = best_subsets(x, y)
    assert found.exhaustive
    for size, subset in enumerate(found.by_size):
        assert len(subset.predictors) == size
        assert subset.residual_sum_squares == pytest.approx(brute_force(x, y, size), rel=1e-7)


def test_a_limit_bounds_the_size_and_changes_no_smaller_subset():
    x, y = drawn(25, 8)
    whole, limited = best_subsets(x, y), best_subsets(x, y, 3)
    assert limited.by_size == whole.by_size[:4]


def test_a_copy_of_a_predictor_does_not_break_the_search():
    x, y = drawn(20, 5)
    found = best_subsets(np.column_stack([x, x[:, 1], np.ones(20)]), y)
    assert found.by_size[2].residual_sum_squares == pytest.approx(brute_force(x, y, 2), rel=1e-7)


def test_stepwise_paths_never_beat_the_best_subsets():
    x, y = drawn(25, 8, seed=5)
    best = best_subsets(x, y)
    for path in (forward_subsets(x, y), backward_subsets(x, y)):
        assert not path.exhaustive
        for found, least in zip(path.by_size, best.by_size, strict=False):
            assert found.residual_sum_squares >= least.residual_sum_squares * (1 - 1e-9)


def test_backward_selection_starts_from_the_forward_path_without_a_full_model():
    x, y = drawn(6, 10)
    assert len(backward_subsets(x, y).by_size) == 5


def test_noise_is_of_the_full_model_then_of_replicates_then_of_half_the_degrees():
    x, y = drawn(20, 5)
    full = best_subsets(x, y)
    found = noise_of(full, 5, 9.0)
    assert found is not None
    assert found.source == "full-model"
    assert found.variance == pytest.approx(full.by_size[-1].residual_sum_squares / 14)
    x, y = drawn(7, 9)
    wide = best_subsets(x, y)
    assert noise_of(wide, 9, 0.25).variance == 0.25
    assert noise_of(wide, 9, 0.25).source == "replicates"
    last = noise_of(wide, 9)
    assert last.source == "largest-subset"
    assert last.variance == pytest.approx(wide.by_size[3].residual_sum_squares / 3)


def test_the_noisier_the_replicates_the_smaller_the_model():
    x, y = drawn(7, 9)
    wide = best_subsets(x, y)
    sizes = [
        len(choose_subset(wide, "mallows-cp", noise_of(wide, 9, noise)).subset.predictors)
        for noise in (1e-9, 0.3, 100.0)
    ]
    assert sizes[0] == 5
    assert sizes[0] > sizes[1] > sizes[2] == 0


def test_criteria_are_the_standard_forms_and_undefined_without_a_residual():
    assert adjusted_r_squared(2.0, 10.0, 12, 3) == pytest.approx(1 - (2 / 8) / (10 / 11))
    assert adjusted_r_squared(0.0, 10.0, 4, 3) is None
    assert mallows_cp(2.0, 0.25, 12, 3) == pytest.approx(2 / 0.25 - 12 + 8)


def test_a_response_that_never_varies_is_explained_by_nothing_at_once():
    x = np.random.default_rng(3).normal(size=(8, 5))
    for subsets in (best_subsets(x, np.ones(8)), backward_subsets(x, np.ones(8))):
        left = [subset.residual_sum_squares for subset in subsets.by_size]
        assert left == pytest.approx([0.0] * 6, abs=1e-12)
