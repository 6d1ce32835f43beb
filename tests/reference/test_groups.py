"""Groups, repeated measures and mixed models against R (groups.R made the values)."""

import json
from pathlib import Path

import numpy as np
import pytest

from steelyard.analysis.distributions.table_distributions import t_quantile
from steelyard.analysis.groups.location_tests import (
    kruskal_wallis,
    mean_difference,
    one_way,
    welch_anova,
)
from steelyard.analysis.groups.paired_groups import friedman
from steelyard.analysis.groups.rank_sum import hodges_lehmann, mann_whitney
from steelyard.analysis.groups.signed_rank import pseudo_median, wilcoxon
from steelyard.analysis.groups.variance_ratio import variance_ratio
from steelyard.analysis.intervals.corrections import CORRECTIONS
from steelyard.analysis.methods import ANALYSES
from steelyard.analysis.tests.equal_variances import levene
from tests.unit.analysis.trials_tables import question, table

R = json.loads((Path(__file__).parent / "groups.json").read_text())
TWO = R["two"]


def bounds(interval):
    return [interval.low, interval.high]


@pytest.fixture(params=TWO)
def two(request):
    case = TWO[request.param]
    return np.array(case["x"], float), np.array(case["y"], float), case


def test_mann_whitney_is_that_of_r(two):
    x, y, case = two
    found = mann_whitney(x, y)
    assert found.statistic == case["mann_whitney"]["statistic"]
    assert found.p == pytest.approx(case["mann_whitney"]["p"], rel=1e-9)


@pytest.mark.parametrize(("name", "precision"), [("plain", 1e-9), ("many", 2e-3)])
def test_the_shift_has_the_bounds_of_r(name, precision):
    # R finds the normal approximation's bounds by a root of the statistic, off by its continuity
    # correction and its tolerance; ours are ordered differences.
    case = TWO[name]
    found = hodges_lehmann(np.array(case["x"], float), np.array(case["y"], float), 0.95)
    expected = [case["mann_whitney"]["low"], case["mann_whitney"]["high"]]
    assert bounds(found) == pytest.approx(expected, abs=max(precision, 1e-9) * 5)


def test_both_t_tests_are_those_of_r(two):
    x, y, case = two
    for name, equal in (("welch", False), ("pooled", True)):
        interval, test = mean_difference(x, y, 0.95, equal)
        assert test.statistic == pytest.approx(case[name]["statistic"], rel=1e-10)
        assert test.p == pytest.approx(case[name]["p"], rel=1e-9)
        assert bounds(interval) == pytest.approx([case[name]["low"], case[name]["high"]], rel=1e-9)


def test_the_ratio_of_variances_is_that_of_r(two):
    x, y, case = two
    interval, test = variance_ratio(x, y, 0.95)
    assert test.p == pytest.approx(case["f"]["p"], rel=1e-9)
    assert bounds(interval) == pytest.approx([case["f"]["low"], case["f"]["high"]], rel=1e-9)


def test_levene_and_brown_forsythe_are_those_of_r(two):
    x, y, case = two
    group = np.repeat([0, 1], [len(x), len(y)])
    for name, centre in (("levene", "mean"), ("brown_forsythe", "median")):
        found = levene(np.concatenate([x, y]), group, centre)
        expected = case[name][0]
        assert found.statistic == pytest.approx(expected["F value"], rel=1e-10)
        assert found.p == pytest.approx(expected["Pr(>F)"], rel=1e-9)


def test_three_groups_are_those_of_r():
    case = R["three"]
    values, group = np.array(case["values"]), np.array(case["group"])
    kruskal = kruskal_wallis(values, group)
    assert [kruskal.statistic, kruskal.p] == pytest.approx(case["kruskal"], rel=1e-10)
    welch = welch_anova(values, group)
    assert [welch.statistic, *welch.degrees, welch.p] == pytest.approx(case["welch"], rel=1e-9)
    f = one_way(values, group)
    assert [f.statistic, f.p] == pytest.approx(case["f"], rel=1e-10)
    for name, centre in (("levene", "mean"), ("brown_forsythe", "median")):
        found = levene(values, group, centre)
        assert [found.statistic, found.p] == pytest.approx(case[name], rel=1e-10)


@pytest.mark.parametrize("case", R["signed"].values(), ids=list(R["signed"]))
def test_the_signed_rank_test_is_that_of_r(case):
    found = wilcoxon(np.array(case["values"], float))
    assert found.statistic == case["statistic"]
    assert found.p == pytest.approx(case["p"], rel=1e-9)


def test_the_pseudo_median_has_the_bounds_of_r():
    case = R["signed"]["plain"]
    found = pseudo_median(np.array(case["values"]), 0.95)
    assert found.estimate == pytest.approx(case["estimate"])
    assert bounds(found) == pytest.approx([case["low"], case["high"]])


def test_friedman_is_that_of_r():
    found = friedman(np.array(R["friedman"]["values"]))
    assert found.statistic == pytest.approx(R["friedman"]["statistic"])
    assert found.p == pytest.approx(R["friedman"]["p"])


@pytest.mark.parametrize("name", ["holm", "benjamini-hochberg", "bonferroni"])
def test_corrections_are_those_of_r(name):
    found = CORRECTIONS[name](R["corrections"]["p"])
    assert found == pytest.approx(R["corrections"][name])


def test_the_within_subject_analysis_is_that_of_car():
    case = R["within"]
    data = table(
        program=case["program"], compiler=case["compiler"], level=case["level"], y=case["y"]
    )
    found = ANALYSES.get("within").analyze(data, question("y", "compiler,level"))
    sources = {source.term: source for source in found.sources}
    tests = {test.name: test for test in found.tests}
    rows = dict(zip(("compiler", "level", "compiler:level"), case["table"][1:], strict=True))
    for term, (squares, degrees, error, error_degrees, f, p) in rows.items():
        assert sources[term].sum_squares == pytest.approx(squares, rel=1e-9)
        assert sources[f"{term} error"].sum_squares == pytest.approx(error, rel=1e-9)
        assert tests[f"F: {term}"].degrees == (degrees, error_degrees)
        assert [tests[f"F: {term}"].statistic, tests[f"F: {term}"].p] == pytest.approx([f, p])
    for term, (_, corrected, _, huynh) in zip(
        ("compiler", "compiler:level"), case["epsilon"], strict=True
    ):
        assert sources[term].p == pytest.approx(corrected, rel=1e-9)
        assert tests[f"F: {term}, Huynh-Feldt"].p == pytest.approx(huynh, rel=1e-9)


def test_the_mixed_model_is_that_of_lme4_and_lmertest():
    case = R["mixed"]
    columns = {name: case[name] for name in ("build", "execution", "flag", "mode", "y")}
    asked = question("y", "flag,mode", levels="build,execution")
    found = ANALYSES.get("mixed").analyze(table(**columns), asked)
    assert [e.effect.estimate for e in found.effects] == pytest.approx(
        case["coefficients"], rel=1e-6
    )
    assert [e.p for e in found.effects[1:]] == pytest.approx(case["p"][1:], rel=2e-3)
    for level in ("build", "execution", "residual"):
        assert found.facts[f"variance_{level}"] == pytest.approx(
            case[f"{level}_variance"], rel=1e-4
        )
    half_widths = [e.effect.half_width for e in found.effects]
    expected = [
        t_quantile(0.975, degrees) * error
        for error, degrees in zip(case["errors"], case["degrees"], strict=True)
    ]
    assert half_widths == pytest.approx(expected, rel=1e-3)
