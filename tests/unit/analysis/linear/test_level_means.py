"""The coding of levels, means by level, changes in percent, and the plots of both."""

from __future__ import annotations

from dataclasses import replace
from math import exp

import numpy as np
import pytest

from steelyard.analysis.methods import ANALYSES
from steelyard.analysis.tables.figure_values import InteractionFigure, MainEffectsFigure
from steelyard.core.estimate import Estimate, Unbounded
from steelyard.core.experiment_spec import MetricSpec
from steelyard.report.documents.rendering import Origin
from steelyard.report.drawings import svg_of
from steelyard.report.kinds.analysis.document import analysis_document
from steelyard.report.kinds.analysis.page import analysis_page
from steelyard.report.kinds.analysis.text import analysis_text
from tests.unit.analysis.trials_tables import question, table

ORIGIN = Origin("anova", MetricSpec("y", "s"), file="data.csv")


def analyze(data, asked):
    return ANALYSES.get("anova").analyze(data, asked)


def two_by_three(noise=0.1, seed=1, scale=1.0):
    generator = np.random.default_rng(seed)
    rows = [(a, b) for a in ("off", "on") for b in ("x", "y", "z") for _ in range(4)]
    y = [scale * (10 + 4 * (a == "on") + 2 * (b == "z")) for a, b in rows]
    y = np.array(y) + noise * generator.standard_normal(len(y))
    return table(a=[a for a, _ in rows], b=[b for _, b in rows], y=y)


def means(found, term):
    return {mean.levels: mean for mean in found.level_means if mean.term == term}


def changes(found):
    return {effect.term: effect.change for effect in found.effects}


def test_the_coding_says_which_level_is_plus_one():
    found = analyze(two_by_three(), question("y", "a,b"))
    a, b = found.codings
    assert [(one.level, one.codes) for one in a.levels] == [
        ("off", (("a", -1.0),)),
        ("on", (("a", 1.0),)),
    ]
    assert dict(b.levels[0].codes) == {"b[y]": -1.0, "b[z]": -1.0}
    assert dict(b.levels[2].codes) == {"b[y]": 0.0, "b[z]": 1.0}
    text = analysis_text(found, ORIGIN)
    assert "Coding: a off = -1, on = +1; b x = -1 in each column, y, z = 1 in their own." in text
    assert "half of the change from -1 to +1" in text


def test_treatment_coding_says_which_levels_are_0():
    found = analyze(two_by_three(), question("y", "a,b", coding="treatment"))
    assert "Coding: a off = 0, on = 1; b x = 0 in each column" in analysis_text(found, ORIGIN)
    assert changes(found)["b[z]"].estimate == pytest.approx(0.2, abs=0.03)


def test_means_by_level_are_those_of_the_truth_for_factors_and_pairs():
    found = analyze(two_by_three(), question("y", "a,b"))
    for levels, truth in {("off",): 10 + 2 / 3, ("on",): 14 + 2 / 3}.items():
        assert means(found, "a")[levels].mean.estimate == pytest.approx(truth, abs=0.1)
    pair = means(found, "a:b")
    assert pair[("on", "z")].mean.estimate == pytest.approx(16, abs=0.2)
    assert pair[("on", "z")].count == 4
    assert len(pair) == 6


def test_unlike_numbers_of_rows_do_not_pull_the_means_and_the_text_has_both():
    rows = [("off", "x")] * 9 + [("on", "x")] * 2 + [("off", "y")] * 2 + [("on", "y")] * 9
    y = [10 + (a == "on") + 5 * (b == "y") + 0.01 * k for k, (a, b) in enumerate(rows)]
    data = table(a=[a for a, _ in rows], b=[b for _, b in rows], y=y)
    found = analyze(data, question("y", "a,b"))
    off, on = (means(found, "a")[(level,)] for level in ("off", "on"))
    assert on.mean.estimate - off.mean.estimate == pytest.approx(1, abs=0.2)
    assert on.row_mean - off.row_mean > 3
    assert "mean of rows" in analysis_text(found, ORIGIN)


def test_a_change_is_twice_the_effect_as_a_share_of_the_mean():
    rows = [(a, b) for a in (-1, 1) for b in (-1, 1) for _ in range(5)]
    noise = np.tile([0.02, -0.01, 0.0, 0.01, -0.02], 4)
    y = np.array([20 + 2 * a - b for a, b in rows]) + noise
    data = table(a=[a for a, _ in rows], b=[b for _, b in rows], y=y)
    found = changes(analyze(data, question("y", "a,b")))
    assert found["a"].estimate == pytest.approx(0.2)
    assert found["b"].estimate == pytest.approx(-0.1)
    assert found["a"].low < 0.2 < found["a"].high
    assert found["(intercept)"] is None
    assert "+20.000 % (+19.925 … +20.075)" in analysis_text(
        analyze(data, question("y", "a,b")), ORIGIN
    )


def test_the_change_of_a_logarithm_is_that_of_the_response():
    generator = np.random.default_rng(2)
    a = np.repeat([0, 1], 12)
    y = np.exp(1 + 0.5 * a + 0.01 * generator.standard_normal(24))
    found = changes(analyze(table(a=a, y=y), question("y", "a", transform="log")))
    assert found["a"].estimate == pytest.approx(exp(0.5) - 1, abs=0.02)
    assert found["a"].low < exp(0.5) - 1 < found["a"].high


@pytest.mark.parametrize(
    ("data", "asked"),
    [
        (two_by_three(scale=-1.0), question("y", "a,b")),
        (two_by_three(), question("y", "a,b", transform="sqrt")),
        (table(a=["x", "x", "z", "z"], y=[3.0] * 4), question("y", "a")),
    ],
)
def test_what_is_no_share_of_the_response_has_no_change(data, asked):
    assert set(changes(analyze(data, asked)).values()) == {None}


def test_three_levels_and_covariates_have_no_change_but_means():
    data = two_by_three()
    generator = np.random.default_rng(5)
    data = replace(data, columns={**data.columns, "v": generator.uniform(0, 9, 24)})
    found = analyze(data, question("y", "a,b", covariates="v"))
    assert changes(found)["b[z]"] is None
    assert changes(found)["v"] is None
    assert isinstance(changes(found)["a"], Estimate)
    assert means(found, "b")[("z",)].mean.estimate == pytest.approx(14, abs=0.2)


def test_one_row_a_combination_gives_means_without_bounds():
    rows = [(a, b) for a in (-1, 1) for b in (-1, 1)]
    data = table(a=[a for a, _ in rows], b=[b for _, b in rows], y=[1.0, 2.0, 3.0, 7.0])
    found = analyze(data, question("y", "a,b"))
    mean = means(found, "a")[("1",)].mean
    assert isinstance(mean, Unbounded)
    assert mean.estimate == pytest.approx(5)
    assert isinstance(changes(found)["a"], Unbounded)
    assert "(no-error-degrees)" in analysis_text(found, ORIGIN)


def test_a_mean_that_the_design_mixes_up_is_no_number():
    rows = [(1, 1), (-1, -1), (1, 1), (-1, -1)]
    data = table(a=[a for a, _ in rows], b=[b for _, b in rows], y=[1.0, 2.0, 1.1, 2.1])
    found = analyze(data, question("y", "a,b"))
    assert means(found, "b")[("1",)].mean.reason == "aliased"
    assert isinstance(means(found, "a")[("1",)].mean, Estimate)
    svg_of(found.figures[0])


def test_main_effects_and_interactions_are_drawn_and_in_text_page_and_document():
    found = analyze(two_by_three(), question("y", "a,b"))
    main, crossed = found.figures[:2]
    assert isinstance(main, MainEffectsFigure)
    assert [panel.x_axis for panel in main.panels] == ["a", "b"]
    assert isinstance(crossed, InteractionFigure)
    assert (crossed.panels[0].x_axis, crossed.panels[0].line_factor) == ("b", "a")
    assert [line.name for line in crossed.panels[0].lines] == ["off", "on"]
    assert svg_of(main).startswith(b"<?xml")
    page = analysis_page(found, ORIGIN)
    assert "What does each factor do?" in page
    assert "Does the effect of one factor depend on another?" in page
    assert "Means by level" in page
    document = analysis_document(found, ORIGIN)
    kinds = [figure["figure"] for figure in document["figures"]]
    assert kinds[:2] == ["main-effects", "interactions"]
    assert document["codings"][0]["levels"][1] == {"level": "on", "codes": {"a": 1.0}}
    rows = [line for line in analysis_text(found, ORIGIN).splitlines() if line.startswith("a:b ")]
    places = [row.rindex("o") for row in rows[:6]]
    assert places[:3] < places[3:]


def test_the_strongest_interaction_comes_first():
    generator = np.random.default_rng(3)
    rows = [(a, b, c) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1) for _ in range(3)]
    y = np.array([10 + a + 2 * b * c for a, b, c in rows]) + 0.1 * generator.standard_normal(24)
    a, b, c = zip(*rows, strict=True)
    found = analyze(table(a=a, b=b, c=c, y=y), question("y", "a,b,c"))
    pairs = [m.term for m in found.level_means if ":" in m.term]
    assert pairs[0] == "b:c"
    assert found.figures[1].panels[0].line_factor == "c"


def test_many_factors_and_levels_are_drawn_within_bounds_and_kept_in_the_document():
    generator = np.random.default_rng(4)
    columns = {f"f{i}": generator.integers(0, 2, 128) for i in range(20)}
    columns["many"] = np.arange(128) % 60
    data = table(**columns, y=generator.standard_normal(128) + 9)
    found = analyze(data, question("y", ",".join(columns), interactions="1"))
    assert len(found.figures[0].panels) == 16
    assert len({mean.term for mean in found.level_means}) == 21
    svg_of(found.figures[0])
    assert "… and" in analysis_text(found, ORIGIN)
