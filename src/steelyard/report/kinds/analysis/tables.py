"""The tables of an analysis of a table, as rows of text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from steelyard.analysis.tables.table_analysis import Analysis, Effect, Source
from steelyard.core.estimate import Estimate, Interval
from steelyard.report.kinds.comparison.tables import RANGE
from steelyard.report.texts.readable import confidence_text, decimals_for, one_line
from steelyard.report.texts.table import Table

# An effect is shown with so many digits of its half-width: as many as published tables have.
_DIGITS = 5
_MOST_DECIMALS = 320
_LONGEST_DECIMALS = 9
_LARGEST_WRITTEN = 1e13
_NOTHING = ""


class _Column(NamedTuple):
    header: str
    cell: Callable[[Effect], str]
    left: bool = False


def p_text(p: float | None) -> str:
    """A p value with three digits."""
    if p is None:
        return _NOTHING
    if p < 1e-4:
        return "< 0.0001"
    return f"{p:.4f}" if p < 0.1 else f"{p:.3f}"


def number_text(value: float, decimals: int) -> str:
    """A number with so many decimals; one that would be long in powers of ten."""
    if decimals > _LONGEST_DECIMALS or abs(value) >= _LARGEST_WRITTEN:
        return f"{value:.{_DIGITS}g}"
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def effects_table(found: Analysis) -> Table:
    """Every effect with its interval, and beside it what there is to say of any."""
    effects = found.effects
    bounded = [e.effect for e in effects if isinstance(e.effect, Estimate)]
    share = confidence_text(bounded[0].confidence) if bounded else "interval"
    differ = _units_differ(effects)
    columns = [
        _Column("effect", _term, left=True),
        _Column("quantile", lambda e: _NOTHING if e.quantile is None else f"{e.quantile:g}"),
        _Column("as", lambda e: e.measure if e.measure != "coefficient" else _NOTHING, left=True),
        _Column("estimate", _value),
        _Column(share, _bounds),
        _Column("unit", lambda e: one_line(e.unit) if differ else _NOTHING, left=True),
        _Column("sum of squares", _squares(effects, found.sources)),
        _Column("p", lambda e: p_text(e.p)),
        _Column("p corrected", lambda e: p_text(e.adjusted_p)),
        _Column("power", lambda e: _NOTHING if e.power is None else f"{100 * e.power:.0f} %"),
        _Column("80 % finds", _detectable),
        _Column("change", change_text),
    ]
    used = [c for c in columns if any(c.cell(effect) for effect in effects)]
    return Table(
        tuple(column.header for column in used),
        tuple(tuple(column.cell(effect) for column in used) for effect in effects),
        left=frozenset(index for index, column in enumerate(used) if column.left),
        spare=_places(used, ("80 % finds", "power", "p corrected", "sum of squares", "change")),
    )


def _places(columns: Sequence[_Column], headers: Iterable[str]) -> tuple[int, ...]:
    names = [column.header for column in columns]
    return tuple(names.index(header) for header in headers if header in names)


def _units_differ(effects: Sequence[Effect]) -> bool:
    return len({effect.unit for effect in effects if effect.effect.estimate is not None}) > 1


def _term(effect: Effect) -> str:
    name = one_line(effect.term)
    aliases = [one_line(alias) for alias in effect.aliases]
    if not aliases:
        return name
    shown = aliases if len(aliases) <= 4 else [*aliases[:3], f"{len(aliases) - 3} more"]
    return f"{name} (or {', '.join(shown)})"


def interval_decimals(found: Interval) -> int:
    """The decimals by which an interval is shown: so many digits of its half-width."""
    value = found.half_width if isinstance(found, Estimate) else abs(found.estimate or 0.0)
    value = value or abs(found.estimate or 0.0)
    if value <= 0 or not math.isfinite(value):
        return 3
    decimals = _DIGITS - 1 - math.floor(math.log10(value))
    largest = max(value, abs(found.estimate or 0.0))
    most = min(_MOST_DECIMALS, _DIGITS - math.floor(math.log10(largest)))
    return max(0, min(decimals, most))


def _value(effect: Effect) -> str:
    if effect.effect.estimate is None:
        return "?"
    return number_text(effect.effect.estimate, interval_decimals(effect.effect))


def _bounds(effect: Effect) -> str:
    found = effect.effect
    if not isinstance(found, Estimate):
        return f"({found.reason})"
    decimals = interval_decimals(effect.effect)
    return f"{number_text(found.low, decimals)} {RANGE} {number_text(found.high, decimals)}"


def change_text(effect: Effect) -> str:
    """The change of the response in percent, with its interval."""
    found = effect.change
    if found is None or found.estimate is None:
        return _NOTHING
    if not isinstance(found, Estimate):
        return f"{100 * found.estimate:+.3g} %"
    decimals = decimals_for(100 * found.half_width)
    # Adding 0 after rounding takes the sign off a 0.
    low, value, high = (
        f"{round(100 * end, decimals) + 0.0:+.{decimals}f}"
        for end in (found.low, found.estimate, found.high)
    )
    return f"{value} % ({low} {RANGE} {high})"


def _detectable(effect: Effect) -> str:
    if effect.detectable is None:
        return _NOTHING
    return number_text(effect.detectable, max(0, interval_decimals(effect.effect) - 2))


def _squares(effects: Sequence[Effect], sources: Sequence[Source]) -> Callable[[Effect], str]:
    """Sums of squares with the decimals that five digits of the error's have."""
    error = next((s.sum_squares for s in sources if s.term == "error" and s.sum_squares > 0), None)
    largest = max((e.sum_squares or 0.0 for e in effects), default=0.0)
    decimals = _square_decimals(error or largest)

    def cell(effect: Effect) -> str:
        return _NOTHING if effect.sum_squares is None else number_text(effect.sum_squares, decimals)

    return cell


def _square_decimals(value: float) -> int:
    if value <= 0:
        return 2
    return min(_MOST_DECIMALS, max(0, _DIGITS - 1 - math.floor(math.log10(value))))


def sources_table(found: Analysis) -> Table | None:
    """The analysis of variance; None where the method has none."""
    if not found.sources:
        return None
    error = next((s.sum_squares for s in found.sources if s.term == "error"), 0.0)
    decimals = _square_decimals(error or max(s.sum_squares for s in found.sources))
    share = next((s.share_name for s in found.sources if s.share_name), "share")

    def row(source: Source) -> tuple[str, ...]:
        square = source.mean_square
        return (
            one_line(source.term),
            f"{source.degrees:.4g}",
            number_text(source.sum_squares, decimals),
            _NOTHING if square is None else number_text(square, decimals),
            _NOTHING if source.statistic is None else f"{source.statistic:.4g}",
            p_text(source.p),
            _NOTHING if source.share is None else f"{source.share:.3f}",
        )

    headers = ("source", "degrees", "sum of squares", "mean square", "F", "p", share)
    return Table(headers, tuple(row(source) for source in found.sources), spare=(3, 6))


def tests_table(found: Analysis) -> Table | None:
    """The tests with their statistics; None where there is none."""
    if not found.tests:
        return None
    rows = tuple(
        (
            one_line(test.name),
            f"{test.statistic:.5g}",
            ", ".join(f"{degrees:.4g}" for degrees in test.degrees),
            p_text(test.p),
        )
        for test in found.tests
    )
    return Table(("test", "statistic", "degrees", "p"), rows)


def assumption_lines(found: Analysis) -> list[str]:
    """Each assumption: whether it holds, and what to do where it does not."""
    words = {True: "holds", False: "fails", None: "not known"}
    lines: list[str] = []
    for assumption in found.assumptions:
        p = "" if assumption.p is None else f" (p {p_text(assumption.p)})"
        advice = f": {assumption.advice}" if assumption.advice else ""
        lines.append(f"{words[assumption.holds]}: {assumption.name}{p}{advice}")
    return lines


def fact_lines(found: Analysis) -> list[str]:
    """The facts of the fit, a line each."""
    return [
        f"{name.replace('_', ' ')}: {value:.5g}" if isinstance(value, float) else
        f"{name.replace('_', ' ')}: {one_line(str(value))}"
        for name, value in found.facts.items()
    ]  # fmt: skip
