"""The statistics against R's, by values that statistics.R made, and against published ones."""

import json
from pathlib import Path

import pytest

from steelyard.analysis.comparison.metric_summary import sample_quantile
from steelyard.analysis.distributions.normal import normal_quantile
from steelyard.analysis.distributions.student import student_quantile
from steelyard.analysis.intervals.fieller import paired_fieller, unpaired_fieller
from steelyard.analysis.intervals.mean import mean_interval, variance_of
from steelyard.analysis.intervals.simultaneous import each_confidence
from steelyard.analysis.tests.independence import autocorrelation, ljung_box, mann_kendall
from steelyard.analysis.tests.shapiro_wilk import shapiro_wilk

R = json.loads(Path(__file__).with_name("statistics.json").read_text())


@pytest.mark.parametrize("row", R["student"], ids=lambda row: f"{row[0]:g} degrees")
def test_student_quantiles_are_those_of_r(row):
    for p, expected in zip(R["student_p"], row[1:], strict=True):
        assert student_quantile(p, row[0]) == pytest.approx(expected, rel=1e-12)


def test_student_quantiles_are_those_of_the_printed_table():
    # NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
    table = {(1, 0.95): 6.314, (10, 0.975): 2.228, (30, 0.99): 2.457, (100, 0.999): 3.174}
    for (degrees, p), expected in table.items():
        assert student_quantile(p, degrees) == pytest.approx(expected, abs=5e-4)


def test_normal_quantiles_are_those_of_r():
    for p, expected in zip(R["normal_p"], R["normal"], strict=True):
        assert normal_quantile(p) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize(
    "case", R["shapiro_wilk"], ids=lambda case: f"{len(case['values'])} values"
)
def test_shapiro_and_wilk_is_that_of_r(case):
    found = shapiro_wilk(case["values"])
    assert found is not None
    assert found.statistic == pytest.approx(case["statistic"], rel=1e-9)
    assert found.p == pytest.approx(case["p"], rel=1e-7)


def test_shapiro_and_wilk_gives_the_published_statistic():
    # Shapiro and Wilk, Biometrika 52 (1965) 591, example 3: W = 0.79 for these weights.
    weights = [148, 154, 158, 160, 161, 162, 166, 170, 182, 195, 236]
    found = shapiro_wilk(weights)
    assert found is not None
    assert found.statistic == pytest.approx(0.79, abs=0.005)


@pytest.mark.parametrize("case", R["ljung_box"], ids=lambda case: f"{case['lags']:g} lags")
def test_autocorrelation_and_portmanteau_test_are_those_of_r(case):
    found = autocorrelation(case["values"], int(case["lags"]))
    assert found == pytest.approx(case["autocorrelation"], rel=1e-11)
    assert ljung_box(found, len(case["values"])) == pytest.approx(case["p"], rel=1e-10)


@pytest.mark.parametrize("case", R["mann_kendall"], ids=["no ties", "ties"])
def test_the_trend_test_is_that_of_r(case):
    assert mann_kendall(case["values"]) == pytest.approx(case["p"], rel=1e-12)


@pytest.mark.parametrize("case", R["fieller"], ids=["covariance", "few blocks", "wide"])
def test_fieller_inverts_the_t_test_that_r_inverts(case):
    for confidence, key in ((0.95, "bounds"), (0.99, "bounds_99")):
        found = paired_fieller(case["baseline"], case["candidate"], confidence)
        assert [found.estimate, found.low, found.high] == pytest.approx(case[key], abs=1e-9)


def test_fieller_of_variants_run_apart_inverts_the_welch_contrast():
    case = R["fieller_unpaired"]
    found = unpaired_fieller(case["baseline"], case["candidate"], 0.95)
    assert [found.estimate, found.low, found.high] == pytest.approx(case["bounds"], abs=1e-9)


def test_fieller_without_covariance_is_equation_5_of_kalibera_and_jones():
    case = R["fieller_unpaired"]
    x, y = case["baseline"], case["candidate"][:12]
    t = student_quantile(0.975, 11)
    a, b = sum(x) / 12, sum(y) / 12
    h, k = t * (variance_of(x) / 12) ** 0.5, t * (variance_of(y) / 12) ** 0.5
    root = ((a * b) ** 2 - (a * a - h * h) * (b * b - k * k)) ** 0.5
    found = unpaired_fieller(x, y, 0.95, quantile=t)
    expected = [(a * b - root) / (a * a - h * h), (a * b + root) / (a * a - h * h)]
    assert [found.low, found.high] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("case", R["simultaneous"], ids=lambda case: str(len(case["loadings"])))
def test_simultaneous_confidence_is_that_of_mvtnorm(case):
    # Genz and Bretz integrate by random lattices: their own error is some 1e-5.
    found = each_confidence(0.95, tuple(sorted(case["loadings"])))
    assert found == pytest.approx(case["each"], abs=3e-5)


def test_dunnetts_table_for_many_degrees_is_reached():
    # Dunnett, Biometrics 20 (1964) 482, two-sided 5 %, infinite degrees: 2, 5 and 9 treatments.
    half = 0.5**0.5
    for count, expected in ((2, 2.21), (5, 2.51), (9, 2.69)):
        each = each_confidence(0.95, (half,) * count)
        assert normal_quantile((1 + each) / 2) == pytest.approx(expected, abs=0.006)


def test_quartiles_are_those_of_r():
    ordered = sorted(R["quartiles"]["values"])
    found = [sample_quantile(ordered, p) for p in (0.25, 0.5, 0.75)]
    assert found == pytest.approx(R["quartiles"]["quantiles"], rel=1e-14)


def test_a_mean_has_the_interval_that_nist_prints():
    # NIST/SEMATECH e-Handbook 1.3.5.2, ZARR13.DAT: 195 values, mean 9.261460, standard
    # deviation 0.022789, 95 % interval 9.258242 to 9.264679. Any values of these moments do.
    spread = [index % 7 - 3.0 for index in range(195)]
    centre, scale = sum(spread) / 195, 0.022789 / variance_of(spread) ** 0.5
    found = mean_interval([9.261460 + scale * (item - centre) for item in spread], 0.95)
    assert [found.low, found.high] == pytest.approx([9.258242, 9.264679], abs=1.5e-6)
