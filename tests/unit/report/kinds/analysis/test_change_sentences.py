"""What factors of two levels do, in words."""

from __future__ import annotations

from steelyard.analysis.tables.table_analysis import Analysis, Effect, FactorCoding, LevelCode
from steelyard.core.estimate import Estimate, Unbounded
from steelyard.report.kinds.analysis.change_sentences import change_sentences


def effect(term, low, high) -> Effect:
    change = Estimate((low + high) / 2, low, high, 0.95, "m")
    return Effect(term, change, change=change)


def coding(factor, *levels) -> FactorCoding:
    return FactorCoding(factor, tuple(LevelCode(level, ()) for level in levels))


def found(*effects, codings) -> Analysis:
    return Analysis("anova", "cpu_time", "s", 20, effects, codings=codings)


def test_a_factor_of_two_levels_rises_falls_or_shows_no_change() -> None:
    codings = (coding("a", "x", "y"), coding("b", "-O1", "-O2"), coding("c", "0", "1"))
    told = change_sentences(
        found(
            effect("a", 0.08, 0.10),
            effect("b", -0.10, -0.08),
            effect("c", -0.01, 0.03),
            effect("a:b", 0.5, 0.6),
            codings=codings,
        )
    )
    assert [sentence.split(":")[:2] for sentence in told] == [
        ["a", " from x to y cpu_time rises"],
        ["b", " from -O1 to -O2 cpu_time falls"],
        ["c", " from 0 to 1 cpu_time shows no change"],
    ]


def test_factors_of_more_levels_are_left_to_their_plot_and_no_bound_is_said() -> None:
    unbounded = Unbounded(0.1, 0.95, "m", "one-value", "one row")
    told = change_sentences(
        found(
            Effect("a", unbounded, change=unbounded),
            effect("b", 0.1, 0.2),
            codings=(coding("a", "x", "y"), coding("b", "1", "2", "3")),
        )
    )
    assert told == ["a: from x to y cpu_time changes by an amount that these trials cannot bound."]
