"""An event study as sentences and tables for people."""

from __future__ import annotations

from steelyard.analysis.events.correlation import Correlation
from steelyard.analysis.events.internal_variance import InternalVariance, KindOfEvent
from steelyard.core.estimate import Estimate
from steelyard.core.units import scale_for
from steelyard.report.rendering import Origin
from steelyard.report.tables import Table
from steelyard.report.terminal import plain_table, wrapped
from steelyard.report.wording import caution_text, difference_text, one_line

# Beyond them a table is for a file.
_MOST_KINDS = 40
_MOST_RUNS = 8
_SMALLEST_P = 0.001


def headline(found: InternalVariance) -> str:
    """What was studied."""
    return f"{one_line(found.response)} and what happens inside {len(found.runs)} runs"


def conclusion(found: InternalVariance) -> list[str]:
    """What may be said, in sentences."""
    alpha = 1 - found.confidence
    differing = [kind for kind in found.kinds if kind.differs]
    sentences = [
        f"{len(found.kinds)} kinds of events, of which {len(differing)} differ in number between "
        "runs."
    ]
    telling = [
        kind
        for kind in differing
        if (kind.adjusted_p is not None and kind.adjusted_p <= alpha)
        or (kind.adjusted_rank_p is not None and kind.adjusted_rank_p <= alpha)
    ]
    if telling:
        named = ", ".join(
            f"`{one_line(kind.name)}` (r = {_coefficient(kind.pearson)})" for kind in telling[:5]
        )
        more = f" and {len(telling) - 5} more" if len(telling) > 5 else ""
        sentences.append(f"The number goes with {one_line(found.response)}: {named}{more}.")
    elif differing:
        sentences.append(
            f"No number of events goes with {one_line(found.response)} once the p values are "
            f"corrected for {len(differing)} kinds ({found.correction})."
        )
    p = found.order.p
    if p is not None:
        goes = "goes" if p <= alpha else "does not go"
        sentences.append(
            f"How much the order of events differs between two runs {goes} with how much their "
            f"results differ: r = {_coefficient(found.order)}, p {p_text(p)}."
        )
    sentences.append(_overhead(found))
    return sentences


def _overhead(found: InternalVariance) -> str:
    factor, unit = scale_for(found.recorded_mean, found.unit)
    recorded = f"{found.recorded_mean / factor:.4g} {unit}".strip()
    if found.plain_mean is None or not isinstance(found.overhead, Estimate):
        return f"With events recorded {one_line(found.response)} is {recorded}."
    plain = f"{found.plain_mean / factor:.4g} {unit}".strip()
    more = "more" if found.overhead.estimate >= 1 else "less"
    return (
        f"{one_line(found.response)} is {recorded} with events recorded and {plain} without: "
        f"{difference_text(found.overhead)} {more}."
    )


def p_text(p: float) -> str:
    """A p value with its sign of comparison."""
    return f"< {_SMALLEST_P:g}" if p < _SMALLEST_P else f"= {p:.3f}"


def _coefficient(found: Correlation) -> str:
    value = found.coefficient
    if not isinstance(value, Estimate):
        return "–"
    return f"{value.estimate:.2f} [{value.low:.2f}, {value.high:.2f}]"


def _p(p: float | None) -> str:
    return "–" if p is None else p_text(p).removeprefix("= ")


def correlation_table(found: InternalVariance, most: int | None = None) -> Table:
    """A row a kind that differs, as Table 4.3 of Larres (2012), then all events, then the order as
    in his Table 4.4."""
    rows = [_row(kind) for kind in found.kinds if kind.differs][:most]
    rows.append(_row(found.total))
    order = ("order of events", _coefficient(found.order), _p(found.order.p), "", "", "", "")
    headers = ("event", "Pearson r", "p", "corrected p", "rank r", "p", "corrected p")
    return Table(headers, (*rows, order), frozenset({0}), spare=(5, 2))


def _row(kind: KindOfEvent) -> tuple[str, ...]:
    return (
        one_line(kind.name),
        _coefficient(kind.pearson),
        _p(kind.pearson.p),
        "" if kind.adjusted_p is None else _p(kind.adjusted_p),
        _coefficient(kind.rank),
        _p(kind.rank.p),
        "" if kind.adjusted_rank_p is None else _p(kind.adjusted_rank_p),
    )


def counts_table(found: InternalVariance, most_runs: int | None = None) -> Table:
    """How often each kind occurs in each run, ``!`` where runs differ: Figure 4.3 of Larres
    (2012). The runs come from the lowest result to the highest."""
    places = sorted(range(len(found.runs)), key=lambda place: found.runs[place].value)
    if most_runs is not None and len(places) > most_runs:
        step = (len(places) - 1) / (most_runs - 1)
        places = [places[round(index * step)] for index in range(most_runs)]
    factor, unit = scale_for(found.recorded_mean, found.unit)
    values = [f"{found.runs[place].value / factor:.4g}" for place in places]
    head = f"{one_line(found.response)} [{unit}]" if unit else one_line(found.response)
    rows = [
        (one_line(kind.name), "!" if kind.differs else "", *(str(kind.counts[p]) for p in places))
        for kind in (*found.kinds, found.total)
    ]
    return Table((head, "", *values), tuple(rows), frozenset({0, 1}))


def diff_lines(found: InternalVariance) -> list[str]:
    """The order of events in two runs side by side, as Figure 4.4 of Larres (2012)."""
    signs = {"both": " ", "first": "<", "second": ">"}
    return ["  ..." if not name else f"{signs[side]} {one_line(name)}" for side, name in found.diff]


def events_text(found: InternalVariance, _origin: Origin, width: int | None = None) -> str:
    """What may be said, then the tables; ends with a newline."""
    lines = wrapped(headline(found), width)
    for sentence in conclusion(found):
        lines += wrapped(sentence, width)
    counts = counts_table(found, _MOST_RUNS)
    shown = counts._replace(rows=(*counts.rows[:-1][:_MOST_KINDS], counts.rows[-1]))
    lines += ["", *plain_table(correlation_table(found, _MOST_KINDS), width)]
    lines += ["", *plain_table(shown, width)]
    if len(found.runs) > _MOST_RUNS or len(found.kinds) > _MOST_KINDS:
        lines.append(
            f"{len(found.runs)} runs, {len(found.kinds)} kinds; --json and --html have all."
        )
    if found.cautions:
        lines.append("")
        for caution in found.cautions:
            lines += wrapped(f"warning: {caution_text(caution.message)}", width)
    return "\n".join(lines) + "\n"
