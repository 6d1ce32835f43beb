"""Numbers of analyses as people read them."""

import pytest

from steelyard.analysis.tables import table_analysis as results
from steelyard.analysis.tables.table_analysis import Analysis, Assumption, Effect
from steelyard.core.estimate import Estimate, Unbounded
from steelyard.core.experiment_results import Caution
from steelyard.core.experiment_spec import MetricSpec
from steelyard.report.documents.rendering import Origin
from steelyard.report.kinds.analysis.tables import effects_table, number_text, p_text
from steelyard.report.kinds.analysis.text import analysis_text


def estimate(value, half_width):
    return Estimate(value, value - half_width, value + half_width, 0.95, "m")


def analysis(*effects, **more):
    return Analysis("anova", "time", "s", 8, effects, **more)


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (33.50179, 3, "33.502"),
        (-0.00001, 3, "0.000"),
        (1.2345e-12, 16, "1.2345e-12"),
        (4.2e15, 0, "4.2e+15"),
    ],
)
def test_a_number_is_written_as_short_as_it_can_be(value, decimals, text):
    assert number_text(value, decimals) == text


@pytest.mark.parametrize(
    ("p", "text"), [(None, ""), (1e-9, "< 0.0001"), (0.04567, "0.0457"), (0.25, "0.250")]
)
def test_p_values_have_three_digits_or_a_bound(p, text):
    assert p_text(p) == text


def test_effects_have_the_decimals_that_their_intervals_deserve():
    table = effects_table(analysis(Effect("a", estimate(-8.0307083, 1.9076)),
                                   Effect("b", estimate(0.98413031, 0.0014))))  # fmt: skip
    assert table.headers == ("effect", "estimate", "95 %")
    assert table.rows[0] == ("a", "-8.0307", "-9.9383 … -6.1231")
    assert table.rows[1][1] == "0.984130"


def test_what_cannot_be_bounded_says_why_and_what_it_may_be():
    nothing = Unbounded(None, 0.95, "m", "aliased", "It is the same as a.")
    table = effects_table(
        analysis(Effect("b:c", nothing, aliases=("a",)), Effect("a", estimate(1, 1), unit="s"))
    )
    assert table.rows[0] == ("b:c (or a)", "?", "(aliased)")
    assert "unit" not in table.headers


def test_the_text_holds_everything_that_was_found():
    found = analysis(
        Effect("a", estimate(1.0, 0.5), p=0.01),
        tests=(results.Test("Shapiro-Wilk", 0.95, (), 0.3),),
        assumptions=(Assumption("normal residuals", False, 0.001, "Use `--method quantile`."),),
        cautions=(Caution("unbalanced", "Counts differ."),),
        conclusion=("It matters.",),
        r_squared=0.5,
    )
    text = analysis_text(found, Origin("anova", MetricSpec("time", "s")))
    for part in (
        "time [s]: A linear model with interactions, 8 rows",
        "It matters.",
        "Shapiro-Wilk",
        "R²: 0.500",
        "fails: normal residuals (p 0.0010): Use `--method quantile`.",
        "warning: Counts differ.",
    ):
        assert part in text
