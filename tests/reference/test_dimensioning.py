"""Variance components against R's, by values that variance_components.R made, and the counts
and intervals of Kalibera and Jones, Rigorous Benchmarking in Reasonable Time, ISMM 2013."""

import json
from math import sqrt
from pathlib import Path

import numpy as np
import pytest

from steelyard.analysis.dimensioning.precision import RATIO_WIDENING
from steelyard.analysis.dimensioning.repetition_counts import optimal_counts, rounded_up
from steelyard.analysis.distributions.chi_squared import chi_squared_quantile
from steelyard.analysis.intervals.fieller import MeanPair, fieller_interval
from steelyard.analysis.variance.nested_values import nested_values
from steelyard.analysis.variance.variance_components import variance_components

R = json.loads(Path(__file__).with_name("variance_components.json").read_text())
NAMES = ("machine", "build", "execution", "iteration")


def components(case, method="anova"):
    labels = [np.array(label, dtype=np.int64) for label in case["labels"]]
    data = nested_values(NAMES[-len(labels) :], labels, np.array(case["values"]))
    return variance_components(data, 0.95, method)


def case_name(case):
    return f"{len(case['labels'])} levels, {len(case['values'])} values"


@pytest.mark.parametrize("case", R["cases"], ids=case_name)
def test_components_are_those_of_whole_matrices_in_r(case):
    found = [level.variance.estimate for level in components(case).levels]
    assert found == pytest.approx(case["henderson"], rel=1e-10)


def test_components_of_equal_counts_are_those_of_lme4():
    equal = [case for case in R["cases"] if components(case).estimator == "anova-balanced"]
    assert len(equal) == 2
    for case in equal:
        found = [level.variance.estimate for level in components(case).levels]
        assert min(found) > 0
        assert found == pytest.approx(case["reml"], rel=1e-6)


@pytest.mark.parametrize("case", R["cases"], ids=case_name)
def test_restricted_maximum_likelihood_is_that_of_lme4(case):
    found = [level.variance.estimate for level in components(case, "reml").levels]
    assert found == pytest.approx(case["reml"], rel=1e-6)


@pytest.mark.parametrize("row", R["chi_squared"], ids=lambda row: f"{row[0]:g} degrees")
def test_chi_squared_quantiles_are_those_of_r(row):
    for p, expected in zip(R["chi_squared_p"], row[1:], strict=True):
        assert chi_squared_quantile(p, row[0]) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("benchmark", "iteration_s", "execution_s", "iteration", "execution", "count"),
    [
        ("bloat6", 35.5, 110.0, 14.0, 2.7, 10),
        ("lusearch9", 1.7, 12.3, 3.4, 30.3, 1),
        ("xalan6", 10.8, 24.6, 7.2, 8.9, 2),
        ("xalan9", 6.7, 71.8, 3.5, 0.8, 15),
    ],
)
def test_the_counts_are_those_of_table_5(
    benchmark, iteration_s, execution_s, iteration, execution, count
):
    # The variations in percent are sqrt(T_i^2) / mean, though the paper prints sqrt(T_i^2 / mean).
    exact = optimal_counts((execution**2, iteration**2), (execution_s, iteration_s))
    assert [rounded_up(c) for c in exact] == [count]


@pytest.mark.parametrize("half_width_ratio", [0.005, 0.01, 0.025, 0.05, 0.1])
def test_equation_6_is_about_the_half_width_of_fieller(half_width_ratio):
    quantile = 2.1
    variance = (half_width_ratio / quantile) ** 2
    interval = fieller_interval(MeanPair(1.0, 1.0, variance, 0.0, variance), quantile, 0.95, "")
    # The exact half-width of section 10.2, for two systems alike.
    square = half_width_ratio**2
    exact = sqrt(2 * square - square**2) / (1 - square)
    assert interval.half_width == pytest.approx(exact, rel=1e-9)
    assert RATIO_WIDENING * half_width_ratio == pytest.approx(exact, rel=square)
