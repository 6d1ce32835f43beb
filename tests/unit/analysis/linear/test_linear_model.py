"""The linear model: what it says of good designs, and of those that cannot answer."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from steelyard.analysis.methods import ANALYSES
from steelyard.core.errors import AnalysisError
from steelyard.core.estimate import Estimate, Unbounded
from steelyard.store.data_table import read_data_table
from tests.unit.analysis.trials_tables import question, table


def analyze(data, asked):
    return ANALYSES.get("anova").analyze(data, asked)


def two_level(names, replicates=1):
    """A full two-level design as columns of -1 and 1."""
    rows = [row for row in product((-1, 1), repeat=len(names)) for _ in range(replicates)]
    return dict(zip(names, zip(*rows, strict=True), strict=True))


def effects(found):
    return {effect.term: effect for effect in found.effects}


def codes(found):
    return {caution.code for caution in found.cautions}


def test_a_known_model_is_found_again():
    design = two_level("ab", 3)
    a, b = map(np.array, (design["a"], design["b"]))
    noise = np.tile([0.1, -0.1, 0.0], 4)
    found = analyze(table(**design, y=5 + 2 * a - b + 0.5 * a * b + noise), question("y", "a,b"))
    assert {t: e.effect.estimate for t, e in effects(found).items()} == pytest.approx(
        {"(intercept)": 5.0, "a": 2.0, "b": -1.0, "a:b": 0.5}
    )
    assert found.conclusion == (
        "y = 5.000 + 2.000 a - 1.000 b + 0.500 a:b (effects with p below 0.05).",
    )


def test_an_equation_of_small_values_shows_them_and_one_of_no_effect_says_so():
    design = two_level("ab", 3)
    a = np.array(design["a"])
    noise = 1e-6 * np.tile([0.1, -0.1, 0.0], 4)
    found = analyze(table(**design, y=5e-6 + 2e-6 * a + noise), question("y", "a,b"))
    assert found.conclusion == ("y = 0.00000500 + 0.00000200 a (effects with p below 0.05).",)
    still = analyze(table(**design, y=5 + np.tile([0.1, -0.1, 0.0], 4)), question("y", "a,b"))
    assert still.conclusion == ("No effect on y has p below 0.05.",)


def test_treatment_coding_is_the_change_from_the_first_level():
    data = table(a=["x"] * 3 + ["z"] * 3, y=[1.0, 2.0, 3.0, 11.0, 12.0, 13.0])
    found = analyze(data, question("y", "a", coding="treatment"))
    assert effects(found)["a[z]"].effect.estimate == pytest.approx(10.0)
    again = analyze(data, question("y", "a", coding="treatment", low="a=z"))
    assert effects(again)["a[x]"].effect.estimate == pytest.approx(-10.0)


def test_levels_are_in_the_order_of_their_numbers():
    data = table(a=["-O10", "-O9"] * 3, y=[2.0, 1.0, 2.1, 1.1, 2.2, 1.2])
    assert effects(analyze(data, question("y", "a")))["a"].effect.estimate == pytest.approx(0.5)


def test_one_replicate_ranks_effects_but_gives_no_interval():
    design = two_level("abc")
    found = analyze(table(**design, y=np.arange(8.0)), question("y", "a,b,c"))
    a = effects(found)["a"]
    assert isinstance(a.effect, Unbounded)
    assert a.effect.reason == "no-error-degrees"
    assert a.effect.estimate == pytest.approx(2.0)
    assert a.sum_squares == pytest.approx(32.0)
    assert a.p is None
    assert "no-error-degrees" in codes(found)
    assert found.conclusion == ()


def test_fewer_interactions_leave_an_error_to_test_against():
    design = two_level("abc")
    y = np.arange(8.0) + np.array([0.1, 0, 0, -0.1, 0, 0.1, -0.1, 0])
    found = analyze(table(**design, y=y), question("y", "a,b,c", interactions="1"))
    effect = effects(found)["a"].effect
    assert isinstance(effect, Estimate)
    # By hand: half the difference of means, and the rest of squares on 8 - 4 degrees of freedom.
    columns = np.column_stack([np.ones(8), *(np.array(design[name]) for name in "abc")])
    coefficients, (rest,), *_ = np.linalg.lstsq(columns, y, rcond=None)
    reach = 2.7764451051977987 * np.sqrt(rest / 4 / 8)
    assert effect.estimate == pytest.approx(coefficients[1])
    assert (effect.low, effect.high) == pytest.approx(
        (coefficients[1] - reach, coefficients[1] + reach)
    )


def test_a_constant_response_has_no_effect_and_no_interval():
    design = two_level("ab", 3)
    found = analyze(table(**design, y=[7.0] * 12), question("y", "a,b"))
    assert {e.effect.reason for e in found.effects} == {"constant-response"}
    assert found.r_squared is None
    assert {e.p for e in found.effects} == {e.power for e in found.effects} == {None}
    assert "constant-response" in codes(found)


def test_an_alias_is_printed_with_its_sign_and_nothing_is_attributed_falsely():
    # The half fraction with D = -ABC, two replicates.
    design = two_level("abc", 2)
    a, b, c = (np.array(design[name]) for name in "abc")
    noise = np.tile([0.2, -0.2], 8)
    found = analyze(table(**design, d=-a * b * c, y=3 * a + noise), question("y", "a,b,c,d"))
    by_term = effects(found)
    assert by_term["a"].aliases == ("-b:c:d",)
    assert by_term["a:b"].aliases == ("-c:d",)
    assert by_term["(intercept)"].aliases == ("-a:b:c:d",)
    assert isinstance(by_term["c:d"].effect, Unbounded)
    assert by_term["c:d"].effect.estimate is None
    assert "c:d is the same as -a:b" in by_term["c:d"].effect.explanation
    assert "aliased" in codes(found)


def test_a_missing_combination_is_named_and_what_hangs_on_it_is_aliased():
    design = two_level("ab", 3)
    y = np.tile([1.0, 1.1, 0.9], 4)
    data = table(a=[("x", "z")[v > 0] for v in design["a"][:9]], b=list(design["b"][:9]), y=y[:9])
    found = analyze(data, question("y", "a,b"))
    message = next(c.message for c in found.cautions if c.code == "missing-cells")
    assert "1 of 4 combinations" in message
    assert "a=z, b=1" in message
    assert effects(found)["a:b"].effect.reason == "aliased"
    assert effects(found)["a"].aliases


def test_unequal_counts_are_told_of():
    data = table(a=["x"] * 5 + ["z"] * 3, y=[1.0, 1.1, 0.9, 1.0, 1.0, 2.0, 2.1, 1.9])
    assert "unbalanced" in codes(analyze(data, question("y", "a")))


def test_rows_without_a_value_are_left_out_and_a_level_that_goes_with_them_is_named():
    data = table(a=["x", "x", "z", "z", "w"], y=[1.0, 1.1, 2.0, 2.1, float("nan")])
    found = analyze(data, question("y", "a"))
    message = next(c.message for c in found.cautions if c.code == "missing-values")
    assert "1 of 5 rows" in message
    assert "a=w" in message
    assert found.count == 4


@pytest.mark.parametrize("missing", ["", "NA", " nan ", "inf", "-Infinity", "NaN"])
@pytest.mark.parametrize("levels", [("x", "z"), ("1", "2")])
def test_a_missing_cell_of_any_column_leaves_its_row_out_as_na_omit_does(tmp_path, missing, levels):
    """R: nobs(lm(y ~ a + c, na.omit(d))); no missing cell is a level, or the baseline."""
    low, high = levels
    rows = [(level, c, 1 + (level == high) + c + 0.1 * k)
            for level in levels for c in (0.0, 1.0, 2.0) for k in (0, 1)]  # fmt: skip
    whole = [",".join(map(str, row)) for row in rows]
    broken = [f"{missing},1,5", f"{low},{missing},7", f"{low},2,{missing}"]
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["a,c,y", *broken, *whole, f"{missing},{missing},{missing}"]) + "\n")
    asked = question("y", "a", covariates="c", order="c")
    found = analyze(read_data_table(str(path)), asked)
    path.write_text("\n".join(["a,c,y", *whole]) + "\n")
    expected = analyze(read_data_table(str(path)), asked)
    assert found.effects == expected.effects
    message = next(c.message for c in found.cautions if c.code == "missing-values")
    assert "4 of 16 rows" in message
    assert "2 of y, 2 of c, 2 of a" in message


def test_an_empty_level_of_an_experiment_is_one():
    data = table(a=["", "", "-O2", "-O2"], y=[2.0, 2.1, 1.0, 1.1])
    data = replace(data, level_orders={"a": ("", "-O2")})
    found = analyze(data, question("y", "a"))
    assert found.count == 4
    assert effects(found)["a"].effect.estimate == pytest.approx(-0.5)


def test_rows_that_do_not_vary_alike_get_intervals_that_allow_for_it():
    generator = np.random.default_rng(3)
    codes_of_rows = np.repeat([0, 1], 40)
    y = 10 + generator.standard_normal(80) * np.where(codes_of_rows, 5.0, 0.1)
    found = analyze(table(a=codes_of_rows, y=y), question("y", "a"))
    assert effects(found)["a"].effect.method == "welch-points"
    spread = next(a for a in found.assumptions if a.name == "equal variances")
    assert spread.holds is False
    assert "own variance" in spread.advice
    equal = analyze(table(a=codes_of_rows, y=y), question("y", "a", variance="equal"))
    assert effects(equal)["a"].effect.method == "student-ols"


def test_a_lognormal_response_is_advised_a_logarithm_that_mends_it():
    generator = np.random.default_rng(4)
    a = np.repeat([0.0, 1.0], 100)
    y = np.exp(a + 0.8 * generator.standard_normal(200))
    found = analyze(table(a=a, y=y), question("y", "a"))
    advice = " ".join(a.advice for a in found.assumptions)
    assert "transform=log" in advice
    assert "both assumptions hold" in advice
    again = analyze(table(a=a, y=y), question("y", "a", transform="log"))
    assert all(a.holds for a in again.assumptions)
    assert again.unit == "log s"
    assert effects(again)["a"].effect.low < 0.5 < effects(again)["a"].effect.high


def test_two_modes_that_no_transformation_mends_are_advised_quantiles():
    generator = np.random.default_rng(5)
    a = np.tile([0.0, 1.0], 100)
    y = 10 + 5.0 * (generator.random(200) < 0.5) + 0.1 * generator.standard_normal(200)
    found = analyze(table(a=a, y=y), question("y", "a"))
    assert "--method quantile" in " ".join(a.advice for a in found.assumptions)


def test_a_row_that_carries_the_fit_is_named():
    y = [1.0, 1.1, 0.9, 1.05, 2.0, 2.1, 1.9, 2.05, 1.95, 9.0]
    data = table(a=[0] * 4 + [1] * 6, x=[0.1, 0.2, 0.3, 0.4, 0.1, 0.2, 0.3, 0.4, 0.5, 30.0], y=y)
    found = analyze(data, question("y", "a", covariates="x"))
    assert "row 10" in next(a.advice for a in found.assumptions if a.name.startswith("no row"))


def test_counts_that_repeat_exactly_have_intervals_without_width():
    design = two_level("a", 3)
    found = analyze(table(**design, y=[1.0] * 3 + [4.0] * 3), question("y", "a"))
    a = effects(found)["a"].effect
    assert [a.low, a.high] == pytest.approx([1.5, 1.5], abs=1e-14)
    assert "no-error" in codes(found)


def test_rows_that_depend_on_those_before_them_are_told_of():
    generator = np.random.default_rng(6)
    position = generator.permutation(200)
    drift = np.cumsum(generator.normal(size=200))[position]
    data = table(a=np.tile([0, 1], 100), position=position, y=10 + drift)
    found = analyze(data, question("y", "a", order="position"))
    independent = next(a for a in found.assumptions if a.name == "independent residuals")
    assert independent.holds is False
    assert "--method mixed" in independent.advice
    noise = table(a=np.tile([0, 1], 100), position=position, y=generator.normal(size=200))
    again = analyze(noise, question("y", "a", order="position"))
    assert next(a.holds for a in again.assumptions if a.name == "independent residuals") is True
    with pytest.raises(AnalysisError, match="no column 'when'"):
        analyze(noise, question("y", "a", order="when"))


def test_the_replicates_for_a_power_are_told():
    design = two_level("ab", 3)
    noise = np.tile([0.1, -0.1, 0.0], 4)
    data = table(**design, y=5 + 2 * np.array(design["a"]) + noise)
    found = analyze(data, question("y", "a,b", change="0.05", power="0.8"))
    assert found.facts["replicates_needed"] > 10
    assert found.facts["trials_needed"] == 4 * found.facts["replicates_needed"]
    again = analyze(data, question("y", "a,b", change="0.5", power="0.8"))
    assert again.facts["replicates_needed"] < found.facts["replicates_needed"]
    with pytest.raises(AnalysisError, match="power between 0"):
        analyze(data, question("y", "a,b", power="80"))


def test_a_factor_of_three_levels_has_an_effect_for_all_but_the_low_one():
    data = table(a=["x", "y", "z"] * 4, y=np.tile([1.0, 2.0, 6.0], 4) + np.repeat([0, 0.1], 6))
    found = analyze(data, question("y", "a"))
    assert set(effects(found)) == {"(intercept)", "a[y]", "a[z]"}
    assert found.sources[0].degrees == 2


@pytest.mark.parametrize(
    ("columns", "asked", "message"),
    [
        ({"y": [1.0]}, question("y", ""), "takes --factors"),
        ({"a": ["x"], "y": [1.0]}, question("y", "b"), "has no column 'b'"),
        ({"a": ["x"], "y": ["fast"]}, question("y", "a"), "wants numbers"),
        ({"a": ["x"], "y": [float("inf")]}, question("y", "a"), "no row with a value of 'y'"),
        ({"a": [""], "y": [1.0]}, question("y", "a"), "no row with a value of 'a'"),
        (
            {"a": ["", "x"], "y": [1.0, float("nan")]},
            question("y", "a"),
            "no row with a value in every one of 'y', 'a'",
        ),
        ({"a": ["x"], "y": [1e300]}, question("y", "a"), "another unit"),
        ({"a": ["x"], "y": [1e-300]}, question("y", "a"), "another unit"),
        ({"a": ["x"], "y": [float("nan")]}, question("y", "a"), "no row with a value"),
        ({"a": ["x"], "y": [1.0]}, question("y", "a,y"), "named twice"),
        ({"a": ["x"], "y": [1.0]}, question("y", "a", low="b=x"), "takes FACTOR=LEVEL"),
        ({"a": ["x"], "y": [1.0]}, question("y", "a", low="a=q"), "has no level 'q'"),
        ({"a": ["x"], "y": [1.0]}, question("y", "a", interactions="0"), "whole number from 1"),
        ({"a": ["x"], "y": [1.0]}, question("y", "a", coding="magic"), "one of coded, treatment"),
        ({"a": ["x"], "y": [-1.0]}, question("y", "a", transform="log"), "values above 0"),
        ({"a": ["x"], "y": [1.0]}, question("y", "a", transform="cube"), "no transformation"),
    ],
)
def test_a_wrong_question_names_what_is_wrong(columns, asked, message):
    with pytest.raises(AnalysisError, match=message):
        analyze(table(**columns), asked)
