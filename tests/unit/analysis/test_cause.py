"""Causal analysis: what is known of the spread of levels, and the verdict on an explanation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import special

from steelyard.analysis.cause.causal_analysis import Names, Terms, causal_analysis
from steelyard.analysis.cause.level_spread import _normal_score, spread_of
from steelyard.analysis.methods import ANALYSES
from steelyard.analysis.tables.analysis_method import Question
from steelyard.analysis.tables.data_columns import Table
from steelyard.core.errors import AnalysisError
from steelyard.core.estimate import Estimate, Unbounded
from steelyard.report.kinds.cause.text import conclusion, headline

LEVELS = 6
# Offsets of the levels with a standard deviation of 1 between them.
SHAPE = np.array([-1.0, -0.6, -0.2, 0.2, 0.6, 1.0])
SHAPE = SHAPE / SHAPE.std(ddof=1)


def trials(without, held, blocks=12, noise=0.01, seed=1):
    """Values around 1 in which a factor has these spreads in the two arms."""
    generator = np.random.default_rng(seed)
    effects = np.stack([without * SHAPE, held * SHAPE], axis=-1)
    drift = generator.normal(0, 0.05, (blocks, 1, 1))
    return 1 + drift + effects + generator.normal(0, noise, (blocks, LEVELS, 2))


def judged(values, terms=None, intermediate=None):
    names = Names(
        "x", "hold", "time", "s", tuple("abcdef"), ("without", "with"),
        None if intermediate is None else "offset",
    )  # fmt: skip
    return causal_analysis(names, values, terms or Terms(), intermediate)


@pytest.mark.parametrize(
    ("without", "held", "verdict", "reason"),
    [
        (0.05, 0.0, "supported", "effect-goes"),
        (0.05, 0.05, "not-supported", "effect-stays"),
        (0.05, 0.035, "not-supported", "effect-smaller"),
        (0.0, 0.0, "nothing-to-explain", "no-effect"),
        (0.0, 0.05, "nothing-to-explain", "no-effect"),
    ],
)
def test_the_verdict_is_that_of_the_truth(without, held, verdict, reason) -> None:
    found = judged(trials(without, held))
    assert (found.verdict, found.reason) == (verdict, reason)


@pytest.mark.parametrize("more", [10.0, -0.9])
def test_an_effect_that_only_a_change_of_the_mean_takes_away_has_no_verdict(more) -> None:
    """As a share of the mean it goes where the program takes 10 s more; in seconds it stays."""
    values = trials(0.05, 0.05, noise=0.002)
    values[:, :, 1] += more
    if more < 0:
        values[:, :, 1] = 0.1 + (values[:, :, 1] - 0.1) / 10
    found = judged(values)
    assert (found.verdict, found.reason) == ("changes-too-much", "scales-disagree")
    assert isinstance(found.left_in_unit, Estimate)
    truth = 1.0 if more > 0 else 0.01
    assert found.left_in_unit.low <= truth <= found.left_in_unit.high
    assert "changes too much to say" in headline(found)
    assert "depends on the scale" in " ".join(conclusion(found))


@pytest.mark.parametrize(("held", "verdict"), [(0.0, "supported"), (0.5, "not-supported")])
def test_an_intervention_that_costs_time_has_a_verdict_where_both_scales_agree(
    held, verdict
) -> None:
    values = trials(0.05, held, noise=0.002)
    values[:, :, 1] += 1
    found = judged(values)
    assert found.verdict == verdict
    assert "side-effect" in [caution.code for caution in found.cautions]


def test_noise_that_hides_an_effect_is_no_verdict() -> None:
    found = judged(trials(0.0, 0.0, noise=0.2))
    assert (found.verdict, found.reason) == ("cannot-tell", "effect-hidden")
    assert isinstance(found.left, Unbounded)


def test_noise_that_hides_the_rest_is_no_verdict() -> None:
    values = trials(0.05, 0.0)
    values[:, :, 1] += np.random.default_rng(2).normal(0, 0.15, values.shape[:2])
    found = judged(values)
    assert (found.verdict, found.reason) == ("cannot-tell", "rest-hidden")
    assert "noisier-arm" in [caution.code for caution in found.cautions]


def test_too_few_blocks_and_a_single_level_are_refused() -> None:
    assert judged(trials(0.05, 0.0)[:2]).reason == "few-blocks"
    assert judged(trials(0.05, 0.0)[:, :1]).reason == "one-level"


def test_a_tolerance_of_the_callers_decides() -> None:
    values = trials(0.05, 0.03, noise=0.002)
    assert judged(values).verdict == "not-supported"
    assert judged(values, Terms(tolerance=0.5)).verdict == "supported"


def test_values_without_any_noise_have_certain_answers() -> None:
    values = trials(0.05, 0.0, noise=0.0)
    values -= values.mean(axis=(1, 2), keepdims=True) - 1  # Without drift either.
    found = judged(values)
    assert found.verdict == "supported"
    assert found.without is not None
    assert found.without.spread.low == pytest.approx(0.05)
    assert found.without.spread.high == pytest.approx(0.05)


def test_spreads_of_a_response_that_may_be_negative_are_in_its_unit() -> None:
    found = judged(trials(0.05, 0.0) - 1)
    assert not found.relative
    assert found.mean_ratio is None
    assert found.without is not None
    assert found.without.spread.estimate == pytest.approx(0.05, rel=0.2)


def test_a_margin_stays_a_share_where_a_clock_gave_some_runs_no_time() -> None:
    values = 0.002 * trials(0.5, 0.0)
    values[0, 0, 0] = 0.0
    found = judged(values)
    assert found.relative
    assert found.verdict == "supported"


def test_an_intermediate_that_still_moves_is_told_of() -> None:
    moving = np.broadcast_to(np.arange(6.0)[None, :, None], (12, LEVELS, 2))
    held = moving * np.array([1.0, 0.0])
    codes = [
        [caution.code for caution in judged(trials(0.05, 0.0), None, values).cautions]
        for values in (moving, held, 0 * moving)
    ]
    assert codes == [["intermediate-moves"], [], ["intermediate-still"]]


def test_the_effect_of_two_levels_has_the_interval_of_students_t() -> None:
    generator = np.random.default_rng(5)
    values = np.array([1.0, 1.3]) + generator.normal(0, 0.1, (10, 2))
    difference = values[:, 1] - values[:, 0]
    error = difference.std(ddof=1) / 10**0.5 * special.stdtrit(9, 0.975)
    found = spread_of(values, generator).interval(0.95)
    # The standard deviation of two means is their difference over the root of 2.
    assert found.low * 2**0.5 == pytest.approx(difference.mean() - error, rel=0.02)
    assert found.high * 2**0.5 == pytest.approx(difference.mean() + error, rel=0.02)


@pytest.mark.parametrize(("degrees", "within"), [(1, 1e-12), (2, 0.015), (3, 0.005), (15, 0.001)])
def test_the_normal_score_of_a_non_central_chi_squared_is_as_near_as_said(degrees, within) -> None:
    for shift in (0.0, 0.5, 2.0, 10.0, 50.0):
        values = np.linspace(0.05, degrees + shift + 8 * (2 * degrees + 4 * shift) ** 0.5, 50)
        score = _normal_score(values, float(degrees), np.full(50, shift))
        exact = special.chndtr(values, degrees, shift)
        assert np.abs(special.ndtr(score) - exact).max() < within


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """A few of many: `benchmarks.prove` makes thousands."""
    held: dict[str, int] = {"without": 0, "left": 0, "false": 0}
    for seed in range(120):
        values = trials(0.05, 0.02, blocks=8, noise=0.03, seed=seed)
        found = judged(values, Terms(seed=seed))
        assert found.without is not None
        spread, left = found.without.spread, found.left
        held["without"] += spread.low <= 0.05 <= spread.high
        held["left"] += isinstance(left, Estimate) and left.low <= 0.16 <= left.high
        held["false"] += found.verdict == "not-supported"
    assert 0.88 <= held["without"] / 120 <= 1
    assert 0.88 <= held["left"] / 120 <= 1
    assert held["false"] / 120 <= 0.05


def table(values, block=True):
    """The table of an experiment whose arms are named as experiments name them."""
    rows = [(b, x, a) for b in range(values.shape[0]) for x in range(LEVELS) for a in (0, 1)]
    columns = {
        "x": tuple("abcdef"[x] for _, x, _ in rows),
        "hold": tuple(("without", "with")[a] for _, _, a in rows),
        "time": np.array([values[row] for row in rows]),
    }
    if block:
        columns["block"] = np.array([float(b) for b, _, _ in rows])
    return Table("data.csv", columns, range(2, 2 + len(rows)))


QUESTION = Question(response="time", factors=("x", "hold"))


@pytest.mark.parametrize("block", [True, False])
def test_a_table_is_read_as_blocks_of_both_arms(block) -> None:
    values = trials(0.05, 0.0)
    found = ANALYSES.get("cause").analyze(table(values, block), QUESTION)
    expected = judged(values)
    assert (found.levels, found.block_count) == (tuple("abcdef"), 12)
    assert found.left is not None
    assert expected.left is not None
    assert found.left.estimate == pytest.approx(expected.left.estimate)
    assert found.without is not None
    assert expected.without is not None
    assert found.without.means == pytest.approx(expected.without.means)
    assert found.cautions == ()


def test_a_block_that_lacks_a_value_does_not_count_and_is_told_of() -> None:
    values = trials(0.05, 0.0)
    values[3, 2, 1] = np.nan
    found = ANALYSES.get("cause").analyze(table(values), QUESTION)
    assert found.block_count == 11
    assert {"missing-values", "incomplete-blocks"} <= {c.code for c in found.cautions}


def test_a_level_that_failed_in_one_arm_is_left_out_and_told_of() -> None:
    values = trials(0.05, 0.0)
    values[:, 2, 1] = np.nan
    found = ANALYSES.get("cause").analyze(table(values), QUESTION)
    assert found.levels == ("a", "b", "d", "e", "f")
    assert found.block_count == 12
    assert "missing-levels" in [caution.code for caution in found.cautions]


def test_an_intervention_of_three_levels_is_refused() -> None:
    with pytest.raises(AnalysisError, match="two levels"):
        ANALYSES.get("cause").analyze(
            table(trials(0.05, 0.0)), replace(QUESTION, factors=("hold", "x"))
        )
