"""D-optimal designs: as good as the best of all subsets, seeded, and refused where impossible."""

from __future__ import annotations

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest

from steelyard.analysis.linear.d_optimal_points import contrasts, d_optimal_points, model_columns
from steelyard.core.errors import UsageError
from steelyard.design.constraints import Allowed, Constraint
from steelyard.design.design import DesignFactor
from steelyard.design.full_factorial import full_factorial


def d_optimal(named, constraints, seed, count=None, order=1):
    whole = full_factorial(named, constraints)
    found = d_optimal_points([len(f.levels) for f in named], whole.points, seed, count, order)
    points = [tuple(whole.points[place]) for place in found.places]
    return SimpleNamespace(points=points, efficiency_ratio=found.efficiency_ratio)


def factors(*levels):
    return [DesignFactor("abcdefgh"[k], tuple(map(str, range(n)))) for k, n in enumerate(levels)]


FORBIDDEN = (Constraint({"a": ("1",), "b": ("1",)}, {}), Constraint({"c": ("0",)}, {"a": ("0",)}))


@pytest.mark.parametrize(
    ("levels", "constraints", "count", "order"),
    [
        ((2, 2, 2), (), 4, 1),
        ((2, 2, 2, 2), (), 6, 1),
        ((2, 2, 3), FORBIDDEN, 5, 1),
        ((3, 4), (Constraint({"a": ("0",), "b": ("3",)}, {}),), 7, 1),
        ((2, 2, 2, 2), (Constraint({"a": ("1",), "b": ("1",), "c": ("1",)}, {}),), 11, 2),
    ],
)
def test_no_subset_of_the_allowed_combinations_tells_more(levels, constraints, count, order):
    """Every subset is tried, with a model matrix made in another way: dummies of each factor."""
    named = factors(*levels)
    allowed = [tuple(p) for p in full_factorial(named, constraints).points]
    found = d_optimal(named, constraints, 1, count, order)

    def rows(points):
        columns = [[1.0] * len(points)]
        for size in range(1, order + 1):
            for term in combinations(range(len(levels)), size):
                for chosen in np.ndindex(*(levels[k] - 1 for k in term)):
                    columns.append(
                        [float(all(p[k] == c + 1 for k, c in zip(term, chosen, strict=True)))
                         for p in points]
                    )  # fmt: skip
        return np.array(columns).T

    def value(points):
        matrix = rows(points)
        sign, logarithm = np.linalg.slogdet(matrix.T @ matrix)
        return logarithm if sign > 0 else -np.inf

    best = max(value(subset) for subset in combinations(allowed, count))
    assert np.isfinite(best)
    assert value(list(found.points)) == pytest.approx(best, abs=1e-9)
    assert len(set(found.points)) == count
    keeps = Allowed(named, constraints)
    assert all(keeps(point) for point in found.points)


def test_without_constraints_a_half_fraction_is_found_that_tells_as_much_per_run():
    found = d_optimal(factors(2, 2, 2, 2), (), 1, 8)
    assert found.efficiency_ratio == pytest.approx(1.0)
    signs = np.array([[2 * c - 1 for c in point] for point in found.points])
    assert (signs.T @ signs == 8 * np.eye(4)).all()


def test_the_whole_factorial_is_its_own_design_and_tells_all():
    found = d_optimal(factors(2, 3, 4), (), 1, 24, 2)
    assert found.efficiency_ratio == pytest.approx(1.0)
    assert len(found.points) == 24


def test_the_seed_decides_and_the_number_of_points_is_that_of_effects_and_five():
    named = factors(3, 3, 2, 2)
    first, again = (d_optimal(named, FORBIDDEN, 7) for _ in range(2))
    assert list(first.points) == list(again.points)
    assert len(first.points) == 1 + 2 + 2 + 1 + 1 + 5


@pytest.mark.parametrize(
    ("constraints", "count", "message"),
    [
        ((), 3, "it takes 4 .* to 8"),
        ((), 9, "it takes 4 .* to 8"),
        ((Constraint({"a": ("1",)}, {"b": ("1",)}), Constraint({"a": ("0",)}, {"b": ("0",)})), None,
         "cannot tell the 3 effects apart"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_what_can(constraints, count, message):
    with pytest.raises(UsageError, match=message):
        d_optimal(factors(2, 2, 2), constraints, 1, count)


def test_columns_are_orthonormal_over_the_full_factorial():
    named = factors(2, 3, 4)
    points = np.array(full_factorial(named).points)
    matrix = model_columns((2, 3, 4), points, 2)
    assert matrix.T @ matrix / len(points) == pytest.approx(np.eye(matrix.shape[1]), abs=1e-12)
    assert contrasts(1).shape == (1, 0)
