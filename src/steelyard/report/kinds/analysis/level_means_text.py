"""How the levels of an analysis are coded, and their means, as text that is also a plot."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analysis.tables.table_analysis import Analysis, FactorCoding, LevelMean
from steelyard.core.estimate import Estimate
from steelyard.report.kinds.analysis.tables import interval_decimals, number_text
from steelyard.report.kinds.comparison.tables import RANGE
from steelyard.report.texts.readable import confidence_text, one_line
from steelyard.report.texts.table import Table

_PLOT_WIDTH = 32
# Rows that have the same mean up to this share of their span are alike.
_SAME = 1e-9
_SAID_LEVELS = 6


def coding_sentence(found: Analysis) -> str:
    """Which number stands for which level; empty where nothing is coded."""
    codings = [coding for coding in found.codings if len(coding.levels) > 1]
    if not codings:
        return ""
    coded = found.facts.get("coding") == "coded"
    said = "; ".join(_said(coding) for coding in codings)
    if not coded:
        return (
            f"Coding: {said}. An effect is the change from the levels that are 0; in % of the "
            "response at them."
        )
    several = [coding for coding in codings if len(coding.levels) > 2]
    meaning = "An effect is half of the change from -1 to +1"
    if several and len(several) == len(codings):
        meaning = "An effect is the difference of its level from the mean of all levels"
    elif several:
        meaning += "; of a level in brackets it is the difference from the mean of all levels"
    scale = (
        ""
        if several and len(several) == len(codings)
        else ("; a change in % is the whole one, of the mean over all combinations")
    )
    return f"Coding: {said}. {meaning}{scale}."


def _said(coding: FactorCoding) -> str:
    name = one_line(coding.factor)
    if len(coding.levels) == 2:
        signed = coding.levels[0].codes[0][1] != 0
        low, high = (f"{one_line(c.level)} = {_code(c.codes[0][1], signed)}" for c in coding.levels)
        return f"{name} {low}, {high}"
    low = coding.levels[0]
    levels = [one_line(level.level) for level in coding.levels[1:]]
    shown = levels if len(levels) <= _SAID_LEVELS else [*levels[:_SAID_LEVELS], "…"]
    return (
        f"{name} {one_line(low.level)} = {_code(low.codes[0][1])} in each column, "
        f"{', '.join(shown)} = 1 in their own"
    )


def _code(value: float, signed: bool = True) -> str:
    return f"{value:+.0f}" if value and signed else f"{value:.0f}"


def level_means_table(found: Analysis, most_rows: int | None = None) -> Table | None:
    """A row a level: its code, the mean with its interval, and where that lies on a common scale.

    None where the method gives no means.
    """
    means = found.level_means[:most_rows]
    if not means:
        return None
    codes = _codes(found.codings)
    bounded = next((m.mean for m in means if isinstance(m.mean, Estimate)), None)
    unlike = _unlike(means)
    ends = _ends(means)
    unit = f" [{one_line(found.unit)}]" if found.unit else ""
    headers = ["factor", "level", "code", f"mean{unit}"]
    headers.append(confidence_text(bounded.confidence) if bounded else "interval")
    headers += ["mean of rows"] if unlike else []
    headers += ["rows", _scale(ends, means)]
    rows = tuple(_row(mean, codes, ends, unlike) for mean in means)
    place = len(headers) - 1
    return Table(tuple(headers), rows, frozenset({0, 1, place}), spare=(place, place - 1))


def _row(
    mean: LevelMean, codes: dict[tuple[str, str], str], ends: tuple[float, float], unlike: bool
) -> tuple[str, ...]:
    names = [mean.term] if len(mean.levels) == 1 else list(_split(mean, codes))
    code = ", ".join(codes.get(pair, "") for pair in zip(names, mean.levels, strict=True))
    decimals = interval_decimals(mean.mean)
    value = mean.mean.estimate
    cells = [
        one_line(mean.term),
        ", ".join(map(one_line, mean.levels)),
        code,
        "?" if value is None else number_text(value, decimals),
        f"{number_text(mean.mean.low, decimals)} {RANGE} {number_text(mean.mean.high, decimals)}"
        if isinstance(mean.mean, Estimate)
        else f"({mean.mean.reason})",
    ]
    if unlike:
        cells.append("" if mean.row_mean is None else number_text(mean.row_mean, decimals))
    return (*cells, str(mean.count), _plot(mean, ends))


def _split(mean: LevelMean, codes: dict[tuple[str, str], str]) -> tuple[str, str]:
    """The two factors of a term, whose names may hold colons."""
    names = {name for name, _ in codes}
    for first in names:
        second = mean.term.removeprefix(f"{first}:")
        if second != mean.term and second in names:
            return first, second
    return mean.term, mean.term


def _codes(codings: Sequence[FactorCoding]) -> dict[tuple[str, str], str]:
    """The code of each level of each factor; of several columns the one that it has alone."""
    found: dict[tuple[str, str], str] = {}
    for coding in codings:
        for level in coding.levels:
            values = [value for _, value in level.codes]
            # The low level has -1 or 0 in every column, another one 1 in its own.
            signed = any(value for _, value in coding.levels[0].codes)
            found[(coding.factor, level.level)] = _code(max(values), signed) if values else ""
    return found


def _unlike(means: Sequence[LevelMean]) -> bool:
    """Whether the means of the rows differ from those of the model somewhere."""
    values = [m.mean.estimate for m in means if m.mean.estimate is not None]
    span = max(map(abs, values), default=0.0)
    return any(
        m.row_mean is not None
        and m.mean.estimate is not None
        and abs(m.row_mean - m.mean.estimate) > _SAME * span
        for m in means
    )


def _ends(means: Sequence[LevelMean]) -> tuple[float, float]:
    values = [v for m in means for v in (m.mean.estimate,) if v is not None]
    for mean in means:
        if isinstance(mean.mean, Estimate):
            values += [mean.mean.low, mean.mean.high]
    return (min(values), max(values)) if values else (0.0, 0.0)


def _scale(ends: tuple[float, float], means: Sequence[LevelMean]) -> str:
    """The two ends of the plot's scale."""
    decimals = max((interval_decimals(m.mean) for m in means), default=0)
    low, high = (number_text(end, max(0, decimals - 2)) for end in ends)
    return f"{low}{high.rjust(max(1, _PLOT_WIDTH - len(low)))}"


def _plot(mean: LevelMean, ends: tuple[float, float]) -> str:
    """Where the mean and its interval lie between the ends."""
    low, high = ends
    if mean.mean.estimate is None or high <= low:
        return ""

    def place(value: float) -> int:
        return round((value - low) / (high - low) * (_PLOT_WIDTH - 1))

    cells = [" "] * _PLOT_WIDTH
    if isinstance(mean.mean, Estimate):
        start, end = place(mean.mean.low), place(mean.mean.high)
        cells[start : end + 1] = "-" * (end - start + 1)
        cells[start] = cells[end] = "|"
    cells[place(mean.mean.estimate)] = "o"
    return "".join(cells)
