"""Facets: every cell by itself, whatever the number of levels, and which of them are empty."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from steelyard.analysis.methods.facets import analyze
from steelyard.analysis.tables.analysis_method import Question
from steelyard.analysis.tables.data_columns import Table
from steelyard.core.errors import AnalysisError
from steelyard.core.estimate import Estimate, Unbounded
from steelyard.report.drawings import svg_of


def table(rows):
    """A table of rows of texts with a number at their ends."""
    *texts, values = zip(*rows, strict=True)
    columns = {name: tuple(column) for name, column in zip("xcrl", texts, strict=False)}
    return Table("t.csv", {**columns, "time": np.array(values)}, range(2, len(rows) + 2))


def asked(factors, **extra):
    return Question("time", tuple(factors), extra=extra)


def full(levels, count, seed=1):
    """Rows for every combination of levels of up to four factors."""
    generator = np.random.default_rng(seed)
    places = np.ndindex(*levels)
    return [
        (*(f"{name}{place}" for name, place in zip("xcrl", each, strict=False)), value)
        for each in places
        for value in generator.normal(1 + sum(each), 0.1, count)
    ]


@pytest.mark.parametrize("levels", [(1,), (2,), (40,), (2, 3), (2, 1, 40), (3, 2, 2), (40, 5)])
def test_each_cell_has_the_mean_and_the_interval_of_its_own_rows(levels) -> None:
    rows = full(levels, 5)
    found = analyze(table(rows), asked("xcr"[: len(levels)]))
    assert len(found.effects) == np.prod(levels)
    told = {effect.term: effect.effect for effect in found.effects}
    for place in list(np.ndindex(*levels))[:: max(1, int(np.prod(levels)) // 20)]:
        names = [f"{name}{index}" for name, index in zip("xcr", place, strict=False)]
        own = [row[-1] for row in rows if list(row[:-1]) == names]
        term = ", ".join(f"{name}={level}" for name, level in zip("xcr", names, strict=False))
        low, high = stats.t.interval(0.95, len(own) - 1, np.mean(own), stats.sem(own))
        effect = told[term]
        assert isinstance(effect, Estimate)
        assert (effect.estimate, effect.low, effect.high) == pytest.approx(
            (np.mean(own), low, high), rel=1e-9
        )
    (figure,) = found.figures
    assert [len(line.cells) for panel in figure.panels for line in panel.lines] == [
        levels[0]
    ] * len(figure.panels)
    assert len(figure.panels) == np.prod(levels[1:], dtype=int)


def test_lines_are_a_fourth_factor_and_draw_means() -> None:
    found = analyze(table(full((3, 2, 2, 4), 3)), asked("xcr", lines="l"))
    (figure,) = found.figures
    assert figure.draws_means
    assert [line.name for line in figure.panels[0].lines] == ["l0", "l1", "l2", "l3"]
    assert "l=l3" in found.effects[-1].term


def test_a_missing_cell_is_empty_and_a_single_row_has_no_interval() -> None:
    rows = [row for row in full((2, 2), 4) if row[:2] != ("x1", "c1")]
    rows = [row for k, row in enumerate(rows) if row[:2] != ("x0", "c1") or k % 4 == 0]
    found = analyze(table(rows), asked("xc"))
    assert {caution.code for caution in found.cautions} == {"missing-cells", "one-row-cells"}
    panel = found.figures[0].panels[1]
    assert panel.lines[0].cells[1] is None
    single = panel.lines[0].cells[0]
    assert (single.count, single.low, single.high) == (1, None, None)
    assert isinstance(found.effects[-1].effect, Unbounded)
    assert b"<svg" in svg_of(found.figures[0])


def test_a_box_is_that_of_tukey_and_far_values_are_told() -> None:
    values = [*range(1, 12), 100.0]
    found = analyze(table([("a", float(value)) for value in values]), asked("x"))
    cell = found.figures[0].panels[0].lines[0].cells[0]
    assert cell.quartiles == tuple(np.quantile(values, (0.25, 0.5, 0.75)))
    assert cell.whiskers == (1.0, 11.0)
    assert cell.far == (100.0,)


@pytest.mark.parametrize(
    ("levels", "extra", "said"),
    [
        ((2, 201), {}, "201 panels"),
        ((2, 1, 1, 41), {"lines": "l"}, "41 lines"),
        ((41, 100), {}, "4100 cells"),
    ],
)
def test_what_nobody_can_see_is_refused(levels, extra, said) -> None:
    factors = "xcr"[: min(3, len(levels))]
    with pytest.raises(AnalysisError, match=said):
        analyze(table(full(levels, 2)), asked(factors, **extra))


@pytest.mark.parametrize("factors", ["", "xcrl"])
def test_it_takes_one_to_three_factors(factors) -> None:
    with pytest.raises(AnalysisError, match="one to three"):
        analyze(table(full((2, 2, 2, 2), 2)), asked(factors))


def test_names_and_levels_may_be_any_text() -> None:
    rows = [
        ("$x^2$", "<b>", 1.0),
        ("$x^2$", "<b>", 2.0),
        ("\u0007%", "", 1.0),
        ("\u0007%", "y", 3.0),
    ]
    found = analyze(table(rows), asked("xc"))
    assert b"<svg" in svg_of(found.figures[0])
